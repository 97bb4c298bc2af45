"""Beginning: a run that goes on from the weights of another one, with its tokenizers."""

from pathlib import Path

from regard.errors import UserError
from regard.training.continuation import flat
from regard.training.preparation import Request, grid_of
from regard.training.problems import shown
from regard.training.run import Run, load_run

#: Sections that decide which tensors there are, and what their rows stand for.
SAME = ("model.", "tokenization.")


def begun_run(begin: Path | None, request: Request) -> Run | None:
    """The run to begin with; None where there is none.

    Raises UserError for a run of another model, other tokens or other features of pictures, and
    where captions are to be rewarded and there is none.
    """
    if begin is None:
        if request.configuration.training.objective == "self_critical":
            raise UserError(
                "training.objective self_critical rewards captions that a model can already write: "
                "begin with a run that was trained on captions (--from RUN)"
            )
        return None
    run = load_run(begin)
    before, after = (flat(each.as_dict()) for each in (run.configuration, request.configuration))
    changed = [
        f"{key} was {shown(before.get(key))} and is {shown(after.get(key))}"
        for key in dict.fromkeys((*before, *after))
        if key.startswith(SAME) and "dropout" not in key and before.get(key) != after.get(key)
    ]
    if changed:
        raise UserError(f"{begin} cannot be begun with: {'; '.join(changed)}")
    made = [None if each is None else each.fingerprint for each in (run.backbone, request.backbone)]
    if run.vocabulary.grid != grid_of(request.train) or made[0] != made[1]:
        raise UserError(f"{begin} sees pictures otherwise: give the same backbone, or features")
    return run
