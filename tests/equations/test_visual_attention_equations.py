"""A11: soft visual attention, its gate and its penalty; losses that shape weights."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import (
    Attention,
    alignment_loss,
    coverage_loss,
    doubly_stochastic_penalty,
    flatten_grid,
    fold_grid,
)

from .attention_layer import assert_gradients, inputs_of, layer, random, rows, score_of
from .bahdanau import softmax
from .build import assert_close, randomize
from .recurrent import affine, array, sigma

# Two queries over two positions, of one head: the example of the penalty.
EXAMPLE = torch.tensor([[[[0.5, 0.5], [0.9, 0.1]]]], dtype=torch.float64)


def make(*sizes: int, **options: Any) -> Any:
    return randomize(Attention(*sizes, **options)).double().eval()


def distributions(*shape: int, seed: int = 5) -> Tensor:
    """Rows that sum to 1."""
    return torch.softmax(random(*shape, seed=seed), dim=-1)


def test_soft_visual_attention() -> None:
    """e_ij = v . tanh(W_a s + U_a a_j), c_i = beta_i sum_j alpha_ij a_j over the L vectors a_j."""
    attention = make(6, 4, score="additive", hidden_size=5, gate=True)
    grid, s = random(2, 3, 2, 4), random(2, 3, 6, seed=6)
    context, weights = attention(s, flatten_grid(grid), need_weights=True)
    folded = fold_grid(weights, 3, 2)
    w_a, u_a = array(attention.query_projection.weight), array(attention.key_projection.weight)
    v, f_beta = array(attention.score.v_a)[0], attention.gate.f_beta
    for b, i in np.ndindex(2, 3):
        query = s[b, i].numpy()
        vectors = [grid[b, y, x].numpy() for y in range(3) for x in range(2)]
        alpha = softmax(np.array([float(v @ np.tanh(w_a @ query + u_a @ a)) for a in vectors]))
        beta = float(sigma(affine(f_beta, query))[0])
        assert 0 < beta < 1
        expected = np.zeros(4)
        for share, a in zip(alpha, vectors, strict=True):
            expected = expected + beta * share * a
        assert_close(context[b, i], expected)
        assert_close(folded[b, 0, i], alpha.reshape(3, 2))


@pytest.mark.parametrize("score", ["scaled_dot", "additive"])
@pytest.mark.parametrize("heads", [1, 2])
def test_gate(score: str, heads: int) -> None:
    """One beta for each query; what it dims is the context, before the output projection."""
    options: dict[str, Any] = {"score": score, "heads": heads, "hidden_size": 8}
    attention = make(6, 7, 5, project=True, gate=True, **options)
    q, k, v = inputs_of((6, 7, 5))
    projection, attention.output_projection = attention.output_projection, None
    gate, attention.gate = attention.gate, None
    undimmed = [
        layer(attention, rows(q[b]), rows(k[b]), rows(v[b]), score_of(attention, score))[0]
        for b in range(2)
    ]
    attention.gate, attention.output_projection = gate, projection
    context, alone = attention(q, k, v, need_weights=True).context, attention(q, k, v).context
    for b, i in np.ndindex(2, 3):
        beta = sigma(affine(gate.f_beta, q[b, i].numpy()))
        assert beta.shape == (1,)
        expected = affine(projection, beta * undimmed[b][i])
        assert_close(context[b, i], expected)
        assert_close(alone[b, i], expected)


def test_gradients_of_the_gate() -> None:
    attention = make(4, 3, 2, score="general", gate=True)
    assert_gradients(attention, inputs_of((4, 3, 2), queries=2, positions=3))


def test_gate_dims_what_is_drawn_too() -> None:
    attention = make(6, 4, score="general", gate=True, select="hard")
    q, k = random(2, 3, 6), random(2, 5, 4, seed=6)
    drawn = attention.sample(q, k, generator=torch.Generator().manual_seed(1)).context
    for b, i in np.ndindex(2, 3):
        beta = sigma(affine(attention.gate.f_beta, q[b, i].numpy()))
        possible = [np.abs(drawn[b, i].detach().numpy() - beta * a).max() for a in rows(k[b])]
        assert sorted(possible)[0] < 1e-12 < 1e-3 < sorted(possible)[1]


def penalty(alpha: Tensor, steps: int, places: int) -> float:
    """Xu et al. 2015, eq. 14: sum_j (1 - sum_i alpha_ij)^2 of one example, mean over its heads."""
    heads = len(alpha)
    total = 0.0
    for h in range(heads):
        for j in range(places):
            seen = sum(float(alpha[h, i, j]) for i in range(steps))
            total += (1 - seen) ** 2
    return total / heads


def test_doubly_stochastic_penalty() -> None:
    """The example: (1 - 1.4)^2 + (1 - 0.6)^2 = 0.32."""
    assert_close(doubly_stochastic_penalty(EXAMPLE), [0.32])
    alpha = distributions(3, 2, 4, 5)
    assert_close(doubly_stochastic_penalty(alpha), [penalty(a, 4, 5) for a in alpha])


def test_padding_is_not_punished() -> None:
    """Neither a padded step nor a padded position changes anything, whatever stands there."""
    steps, places = [4, 2, 1], [5, 5, 2]
    query_mask = torch.arange(4)[None] < torch.tensor(steps)[:, None]
    key_mask = torch.arange(5)[None] < torch.tensor(places)[:, None]
    alpha = distributions(3, 2, 4, 5).requires_grad_()
    junk = torch.where(query_mask[:, None, :, None], alpha, torch.nan)
    expected = [penalty(alpha[b].detach(), steps[b], places[b]) for b in range(3)]
    for weights in (alpha, junk):
        found = doubly_stochastic_penalty(weights, query_mask, key_mask)
        assert_close(found, expected)
        (gradient,) = torch.autograd.grad(found.sum(), alpha)
        assert gradient.isfinite().all()
        counted = query_mask[:, None, :, None] & key_mask[:, None, None, :]
        assert ((gradient != 0) == counted.expand_as(gradient)).all()
    padded = torch.nn.functional.pad(EXAMPLE, (0, 1, 0, 1))
    padded[0, 0, 2] = 1 / 3
    real = torch.tensor([[True, True, False]])
    assert_close(doubly_stochastic_penalty(padded, real, real), [0.32])


def test_alignment_loss() -> None:
    """- sum_j g_ij log alpha_ij, g_i the links of i with a mass of 1; mean over linked queries."""
    assert float(alignment_loss(EXAMPLE, torch.eye(2)[None])) == pytest.approx(
        -(math.log(0.5) + math.log(0.1)) / 2, abs=1e-12
    )
    alpha, links = distributions(3, 2, 4, 5), random(3, 4, 5, seed=8) > 0.7
    links[1, 2] = False
    query_mask = torch.arange(4)[None] < torch.tensor([4, 3, 2])[:, None]
    for mask in (None, query_mask):
        terms = []
        for b, i in np.ndindex(3, 4):
            linked = [j for j in range(5) if links[b, i, j]]
            if not linked or (mask is not None and not mask[b, i]):
                continue
            mean = [float(alpha[b, 0, i, j] + alpha[b, 1, i, j]) / 2 for j in linked]
            terms.append(-sum(math.log(x) / len(linked) for x in mean))
        assert 0 < len(terms) < 12
        for given in (links, links.double(), links.long()):
            found = alignment_loss(alpha, given, mask)
            assert float(found) == pytest.approx(sum(terms) / len(terms), abs=1e-12)
    assert float(alignment_loss(alpha, torch.zeros(3, 4, 5))) == 0


def test_alignment_loss_of_weighted_links() -> None:
    """Links may have weights; their query's mass is shared by them."""
    alpha = distributions(1, 1, 1, 3)
    a = [float(x) for x in alpha[0, 0, 0]]
    found = float(alignment_loss(alpha, torch.tensor([[[3.0, 0.0, 1.0]]])))
    assert found == pytest.approx(-(0.75 * math.log(a[0]) + 0.25 * math.log(a[2])), abs=1e-12)


def test_coverage_loss() -> None:
    """See et al. 2017, eq. 12: sum_i sum_j min(alpha_ij, sum of alpha_i'j over i' < i)."""
    assert_close(coverage_loss(EXAMPLE), [0.5 + 0.1])
    alpha, steps = distributions(3, 2, 4, 5), [4, 2, 1]
    query_mask = torch.arange(4)[None] < torch.tensor(steps)[:, None]
    expected = []
    for b in range(3):
        total = 0.0
        for h, i, j in np.ndindex(2, steps[b], 5):
            before = sum(float(alpha[b, h, earlier, j]) for earlier in range(i))
            total += min(float(alpha[b, h, i, j]), before)
        expected.append(total / 2)
    assert_close(coverage_loss(alpha, query_mask), expected)
    assert expected[2] == 0 < expected[1]
    junk = torch.where(query_mask[:, None, :, None], alpha, torch.nan)
    assert_close(coverage_loss(junk, query_mask), expected)


def test_gradients_of_the_losses() -> None:
    query_mask, key_mask = torch.tensor([[True, True, False]]), torch.tensor([[True, True, False]])
    links = torch.tensor([[[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]).double()

    def losses(alpha: Tensor) -> tuple[Tensor, ...]:
        return (
            doubly_stochastic_penalty(alpha, query_mask, key_mask),
            alignment_loss(alpha, links),
            alignment_loss(alpha, links, query_mask),
            coverage_loss(alpha, query_mask),
            coverage_loss(alpha),
        )

    alpha = distributions(1, 2, 3, 3).requires_grad_()
    assert torch.autograd.gradcheck(losses, (alpha,), atol=1e-7)
