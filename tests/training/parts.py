"""A batch in parts, which must cost what it costs as a whole."""

import pytest
import torch
from torch import Tensor

from regard.data.batches import Batch
from regard.models import Model
from regard.training import shards
from regard.training.attention_costs import AttentionCosts
from regard.training.shards import Shards


def check_parts_pay_the_same(
    model: Model, batch: Batch, costs: AttentionCosts, monkeypatch: pytest.MonkeyPatch
) -> Tensor:
    """Loss and gradients in one part and in three; the loss."""
    monkeypatch.setattr(shards, "POSITIONS", 1)
    threads = torch.get_num_threads()
    found = []
    for count in (1, 3):
        loss = Shards(model.eval(), count).backward(batch, 0.1, attention=costs)
        found.append((loss[:2], [parameter.grad for parameter in model.parameters()]))
    torch.set_num_threads(threads)
    torch.testing.assert_close(found[0], found[1], rtol=1e-9, atol=1e-12)
    return found[0][0][0]
