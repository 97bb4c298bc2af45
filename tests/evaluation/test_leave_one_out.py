"""Parts of sources left out: against a model that is given each source without the part, alone."""

from dataclasses import replace

import pytest
import torch

import regard.evaluation.leave_one_out as leaving
from regard.data.batches import Example, collate
from regard.data.special import END
from regard.evaluation.leave_one_out import each_token, leave_out
from regard.search import Ensemble

from .small import MODELS, SPACE, model

TEXTS = [("ein roter Stern", "a red star"), ("der Stern", "the star star"), ("da", "there")]
PARTS = [[(0,), (1,), (0, 2)], [(1,), (0,)], []]


def examples() -> list[Example]:
    return [
        Example((*SPACE.source.encode(source), END), (*SPACE.target.encode(target), END))
        for source, target in TEXTS
    ]


def all_steps(network, example: Example, hidden: tuple[int, ...] = ()) -> torch.Tensor:
    """Log-probabilities `[steps, vocabulary]` of one example by itself, step after step."""
    batch = collate([example], [0])
    memory = network.encode(batch.source, batch.source_mask)
    if hidden:
        seen = torch.ones(1, len(example.source), dtype=torch.bool)
        seen[0, list(hidden)] = False
        memory = replace(memory, key_mask=seen)
    state, rows = network.start(memory), []
    with torch.no_grad():
        for token in batch.inputs[0]:
            step = network.step(token[None], state)
            state = step.state
            rows.append(step.log_probabilities[0])
    return torch.stack(rows)


@pytest.mark.parametrize("how", ["removed", "hidden"])
@pytest.mark.parametrize("name", [name for name in MODELS if name != "never"])
def test_each_part_is_left_out_alone(name, how):
    network = model(name)
    for example, parts, found in zip(
        examples(), PARTS, leave_out(network, examples(), PARTS, how), strict=True
    ):
        steps, chosen = range(len(example.target)), list(example.target)
        whole = all_steps(network, example)
        torch.testing.assert_close(
            found.log_probabilities, whole[steps, chosen], atol=1e-5, rtol=1e-5
        )
        assert found.falls.shape == found.distances.shape == (len(parts), len(steps))
        for number, part in enumerate(parts):
            if how == "hidden":
                without = all_steps(network, example, part)
            else:
                kept = [token for at, token in enumerate(example.source) if at not in part]
                without = all_steps(network, Example(tuple(kept), example.target))
            fall = (whole - without)[steps, chosen]
            torch.testing.assert_close(found.falls[number], fall, atol=1e-4, rtol=1e-4)
            distance = (whole.exp() - without.exp()).abs().sum(1) / 2
            torch.testing.assert_close(found.distances[number], distance, atol=1e-5, rtol=1e-4)


def test_the_effect_of_something_is_there():
    (found,) = leave_out(model("recurrent"), examples()[:1], PARTS[:1])
    assert found.distances.max() > 0.01
    assert found.distances.min() >= 0 and found.distances.max() <= 1


@pytest.mark.parametrize("how", ["removed", "hidden"])
def test_batches_change_nothing(how, monkeypatch):
    """Copies of an example may be in several batches, each beside its whole source."""
    network = model("recurrent")
    once = leave_out(network, examples(), PARTS, how)
    monkeypatch.setattr(leaving, "MOST_ROWS", 2)
    for one, other in zip(once, leave_out(network, examples(), PARTS, how), strict=True):
        torch.testing.assert_close(one.falls, other.falls, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(one.distances, other.distances, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("how", ["removed", "hidden"])
def test_models_that_answer_together(how):
    both = Ensemble([model("recurrent"), model("recurrent", seed=2)])
    (found,) = leave_out(both, examples()[:1], [[(1,)]], how)
    hidden = (1,) if how == "hidden" else ()
    kept = examples()[0]
    if not hidden:
        kept = Example((kept.source[0], *kept.source[2:]), kept.target)
    wholes = [all_steps(each, examples()[0]).exp() for each in both.members]
    others = [all_steps(each, kept, hidden).exp() for each in both.members]
    apart = (sum(wholes) - sum(others)) / 2
    torch.testing.assert_close(found.distances[0], apart.abs().sum(1) / 2, atol=1e-5, rtol=1e-4)


def test_every_token_but_the_end_symbol():
    assert each_token(examples()[0]) == [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    ("parts", "how", "message"),
    [
        ([[(4,)], [], []], "hidden", "positions"),
        ([[(-1,)], [], []], "hidden", "positions"),
        ([[(0, 1, 2, 3)], [], []], "removed", "nothing would be left"),
        ([[]], "removed", "1 lists of parts for 3 examples"),
    ],
)
def test_what_cannot_be_left_out(parts, how, message):
    with pytest.raises(ValueError, match=message):
        leave_out(model("recurrent"), examples(), parts, how)
