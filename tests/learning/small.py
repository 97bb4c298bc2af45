"""Any recipe made small: the same model, narrower, on words between spaces, trained in a minute."""

from regard.data.pairs import Pairs
from regard.data.scenes import generate_scenes, scene_pairs
from regard.training.configuration import Configuration
from regard.training.continuation import flat
from regard.training.recipes import load_recipe

#: Widths of the model are divided by one number, so that what must fit together still does.
WIDEST = 128
#: But what stands before the output layer must not be narrow where it goes through a tanh.
READOUT = 256
SCENES, HELD_OUT = 3000, 200


def small(recipe: str, *more: str) -> Configuration:
    """The recipe at a width of at most `WIDEST`, without dropout, for sentences of whole words.

    more: further overrides, as `--set` takes them; they come last and win.
    """
    full = load_recipe(recipe)
    leaves = flat(full.as_dict()["model"], "model.")
    sizes = {key: value for key, value in leaves.items() if key.endswith("size")}
    readouts = [key for key in sizes if key.endswith("readout_size")]
    widths = {key: value for key, value in sizes.items() if key not in readouts}
    divisor = max(1, max(widths.values()) // WIDEST)
    joint = str(full.tokenization.joint).lower()
    overrides = [
        f"tokenization={{joint: {joint}, source: {{kind: space}}, target: {{kind: space}}}}",
        *(f"{key}={value // divisor}" for key, value in widths.items()),
        *(f"{key}={READOUT}" for key in readouts),
        *(f"{key}=0" for key in leaves if key.endswith("dropout")),
        "model.initialization=glorot",  # what papers have is for wider models
        "batching.tokens=800",
        "training.learning_rate=0.006",
        "training.schedule=linear",
        "training.cooldown=0",
        "training.warmup=40",
        "training.maximum_updates=600",
        "training.validation_interval=5000",
        "training.average.kind=none",
        "training.threads=1",
        "training.metric=exact_match",
        "search.beam=1",
        *more,
    ]
    return load_recipe(recipe, overrides)


def scenes(first: str, second: str) -> tuple[Pairs, Pairs]:
    """Descriptions in two languages to learn from, and some of other scenes."""
    made = generate_scenes(SCENES + HELD_OUT, 1)
    return scene_pairs(made[:SCENES], first, second), scene_pairs(made[SCENES:], first, second)
