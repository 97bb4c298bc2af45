"""What attention adds to the loss, in the training that users run."""

from typing import Any

import pytest
import torch

from regard.data.batches import Batch, collate, encode_pairs
from regard.data.tokenizers import train_tokenizers
from regard.errors import UserError
from regard.models import Model, build_model
from regard.training.attention_costs import AttentionCosts
from regard.training.configuration import Configuration
from regard.training.objective import batch_loss
from regard.training.problems import resolve
from regard.training.shards import Shards
from regard.training.state import TrainingState

from .parts import check_parts_pay_the_same
from .tiny import reversals, tiny

PAIRS = reversals(60)


def configured(decoder: dict[str, Any], **training: Any) -> Configuration:
    data = tiny().as_dict()
    data["model"]["decoder"].update(decoder)
    data["training"].update(training)
    return resolve(data, "tiny")


def job(decoder: dict[str, Any]) -> tuple[Model, Batch]:
    tokenizers = train_tokenizers(tiny().tokenization, PAIRS, 1)
    torch.manual_seed(2)
    model = build_model(configured(decoder).model, tokenizers.source.size, tokenizers.target.size)
    return model.double(), collate(encode_pairs(PAIRS, tokenizers), range(20))


@pytest.mark.parametrize("decoder", [{}, {"attend": "after", "readout": "attentional"}])
def test_shards_pay_the_penalty_of_the_whole_batch(
    decoder: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, batch = job(decoder)
    costs = AttentionCosts(doubly_stochastic=1.5)
    paid = check_parts_pay_the_same(model, batch, costs, monkeypatch)
    assert paid > batch_loss(model, batch, 0.1).loss + 0.01


def test_the_baseline_follows_the_log_likelihood() -> None:
    state = TrainingState()
    seen = []
    for value in (-4.0, -14.0, -5.0):
        state.follow(value, decay=0.9)
        seen.append(state.baseline)
    assert seen == pytest.approx([-4.0, -5.0, -5.0])


def test_hard_attention_draws_in_one_shard() -> None:
    """A batch is drawn as a whole, from the global random state, and teaches where to look."""
    hard = {"attention": {"select": "hard", "hard_expectation": 0.0}}
    model, batch = job(hard)
    assert Shards(model, 4).most == 1
    costs = AttentionCosts(reward=0.1, entropy=0.01, baseline=-3.0)
    torch.manual_seed(3)
    Shards(model.train(), 4).backward(batch, 0.1, attention=costs)
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name


@pytest.mark.parametrize(
    ("decoder", "training", "message"),
    [
        ({"attend": "never", "readout": "none"}, {"doubly_stochastic": 1.0}, "that attends"),
        ({"copying": True}, {"doubly_stochastic": 1.0}, "neither copies"),
        ({"attention": {"select": "hard"}}, {"r_drop": 1.0}, "looks elsewhere in each"),
    ],
)
def test_what_does_not_go_together(
    decoder: dict[str, Any], training: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        configured(decoder, **training)
