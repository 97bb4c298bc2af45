"""How far to trust a model's attention: measured on some sources, and told."""

from typing import TYPE_CHECKING, Any

from regard.cli.table import table

if TYPE_CHECKING:
    from regard.api import Model
    from regard.data.pairs import Pairs
    from regard.evaluation.trust import Trust

#: Sources that are looked at, spread evenly: each is computed as often as it has positions.
LOOKED_AT = 200


def trust_texts(
    model: "Model",
    asked: "Pairs",
    *,
    most: int = LOOKED_AT,
    **options: Any,
) -> "Trust":
    """How far to trust attention over at most `most` sources; options as of `Model.trust`."""
    from regard.training.validation import spread_evenly

    some = [asked[index] for index in spread_evenly(len(asked), most)]
    features = [pair.features for pair in some] if asked.have_features else None
    return model.trust([pair.source for pair in some], features=features, **options)


def trust_captions(
    model: "Model",
    asked: "Pairs",
    *,
    most: int = LOOKED_AT,
    resamples: int,
    batch_size: int = 64,
    beam: int | None = None,
    length_penalty: float | None = None,
) -> "Trust":
    """The same of pictures, each with its pair, and what the model says of them."""
    from regard.data.batches import Example
    from regard.evaluation.asking import read_target
    from regard.evaluation.captioning import caption_pictures
    from regard.evaluation.trust import measure_trust
    from regard.training.validation import spread_evenly

    some = (asked[index].picture for index in spread_evenly(len(asked), most))
    pictures = [picture for picture in some if picture is not None]
    search = model.search_configuration(length_penalty)
    options: Any = {"batch_size": batch_size, "beam": beam}
    captions = caption_pictures(model.network, model.tokenizers, pictures, search, **options)
    examples = [
        Example(picture, read_target(model.tokenizers, caption.tokens))
        for picture, caption in zip(pictures, captions, strict=True)
    ]
    return measure_trust(model.network, examples, resamples=resamples)


def trust_table(trust: "Trust") -> list[str]:
    """A row for attention and one for random weights, by each way, and how much was looked at."""
    from regard.evaluation.trust_wording import HEADER, trust_rows, trust_sizes

    return [*table(trust_rows(trust), header=HEADER, right=[2, 4]), "", trust_sizes(trust)]
