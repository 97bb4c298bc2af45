"""Products with rounded factors: how near they are, and where they are rounded."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

from regard.nn.kernels.affine import affine, linear
from regard.nn.kernels.normed_linears import normed_linears
from regard.nn.kernels.products import (
    BLOCK,
    LARGE,
    STEP,
    add_by_inner,
    add_product,
    by_columns,
    by_inner,
    by_rows,
    even,
    factor,
    multiply,
    parts,
    rounded_factors,
    weight_gradient,
)
from regard.nn.recurrent import CELLS
from regard.nn.transformer import EncoderLayer, LayerOptions


def apart(one: Tensor, other: Tensor) -> float:
    """The size of the difference as a share of the second one's."""
    return ((one - other).norm() / other.norm()).item()


def test_factors_are_rounded_within_and_in_this_thread_alone() -> None:
    third = torch.tensor([1 / 3])
    assert factor(third) is third
    with rounded_factors():
        assert factor(third).dtype == torch.bfloat16
        with ThreadPoolExecutor(1) as other:
            assert other.submit(factor, third).result() is third
        with rounded_factors(False):
            assert factor(third) is third
    assert factor(third) is third


@pytest.mark.parametrize("wanted", [False, True])
def test_products_are_near_the_exact_ones(wanted: bool) -> None:
    left, right, total = torch.randn(7, 50), torch.randn(50, 9), torch.randn(7, 9)
    exact = left.double() @ right.double()
    limit = 1e-2 if wanted else 1e-6
    product, summed = torch.empty(7, 9), total.clone()
    with rounded_factors(wanted):
        multiply(factor(left), factor(right), out=product)
        add_product(summed, factor(left), factor(right), out=summed)
    assert product.dtype == summed.dtype == torch.float32
    assert apart(product, exact) < limit
    assert apart(summed, total + exact) < limit
    assert (apart(product, exact) > 1e-5) == wanted


@pytest.mark.parametrize("outputs", [3, 8])
def test_weight_gradient(outputs: int) -> None:
    read, gradient = torch.randn(7, 5), torch.randn(7, outputs)
    assert torch.allclose(weight_gradient(read, gradient), gradient.t() @ read, atol=1e-6)


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_a_layer_and_its_gradients_are_near(activation: str) -> None:
    layer = EncoderLayer(LayerOptions(64, 4, 96, activation=activation, dropout=0.0))
    x = torch.randn(5, 7, 64, requires_grad=True)
    outward = torch.randn(5, 7, 64)
    found = []
    for wanted in (False, True):
        with rounded_factors(wanted):
            output = layer(x, None)
        # The gradients are asked for outside, as a shard does.
        gradients = torch.autograd.grad((output * outward).sum(), [x, *layer.parameters()])
        assert all(tensor.dtype == torch.float32 for tensor in (output, *gradients))
        found.append([output, *gradients])
    names = ["output", "inputs", *(name for name, _ in layer.named_parameters())]
    for name, exact, rounded in zip(names, *found, strict=True):
        if name == "attention.key_projection.bias":  # no matter: rounding is all there is
            continue
        assert apart(rounded, exact) < 4e-2, name
        assert apart(rounded, exact) > 1e-5 or exact.dim() == 1, name


def test_what_a_product_reads_is_rounded_once() -> None:
    """A result with relu stays rounded, and its gradient is of that type."""
    linear, x = nn.Linear(4, 6), torch.randn(3, 4, requires_grad=True)
    with rounded_factors():
        (rounded,) = normed_linears(x, None, [linear], relu=True)
        (full,) = normed_linears(x, None, [linear])
    assert rounded.dtype == torch.bfloat16 and full.dtype == torch.float32
    gradients = torch.autograd.grad(rounded.sum(), [x, *linear.parameters()])
    assert all(gradient.dtype == torch.float32 for gradient in gradients)


@pytest.mark.parametrize("bias", [False, True])
def test_a_linear_layer_and_its_gradients_are_near(bias: bool) -> None:
    layer, x = nn.Linear(40, 24, bias=bias), torch.randn(3, 5, 40, requires_grad=True)
    outward = torch.randn(3, 5, 24)
    found = []
    for wanted in (False, True):
        with rounded_factors(wanted):
            output = linear(x, layer)
        gradients = torch.autograd.grad((output * outward).sum(), [x, *layer.parameters()])
        found.append([output, *gradients])
    check_near(*found, ["output", "inputs", "weight", "bias"][: 4 if bias else 3])


def test_an_affine_map_of_both_directions_is_near() -> None:
    given = [torch.randn(2, 9, 40), torch.randn(2, 40, 24), torch.randn(2, 1, 24)]
    inputs, outward = [tensor.requires_grad_() for tensor in given], torch.randn(2, 9, 24)
    found = []
    for wanted in (False, True):
        with rounded_factors(wanted):
            output = affine(*inputs)
        found.append([output, *torch.autograd.grad((output * outward).sum(), inputs)])
    check_near(*found, ["output", "rows", "weight", "bias"])


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_and_its_gradients_are_near(cell: str, directions: int) -> None:
    layer = CELLS[cell](30, 24, directions)
    x = torch.randn(4, 6, 30, requires_grad=True)
    mask = torch.arange(6) < torch.tensor([6, 3, 5, 1])[:, None]
    outward = torch.randn(4, 6, 24 * directions)
    found = []
    for wanted in (False, True):
        with rounded_factors(wanted):
            output, _ = layer.run(x, mask=mask)
        gradients = torch.autograd.grad((output * outward).sum(), [x, *layer.parameters()])
        found.append([output, *gradients])
    check_near(*found, ["output", "inputs", *(name for name, _ in layer.named_parameters())])


def check_near(exact: list[Tensor], rounded: list[Tensor], names: list[str]) -> None:
    """All are of full precision, none is far, and products are not exact ones."""
    for name, one, other in zip(names, rounded, exact, strict=True):
        assert one.dtype == torch.float32, name
        assert apart(one, other) < 2e-2, name
        assert apart(one, other) > 1e-5 or name.startswith("b"), name


@pytest.mark.parametrize("count", [1, 31, 32, 256, 300, 512, 777])
def test_products_in_parts_are_the_whole_ones(count: int) -> None:
    """Whatever varies: rows, columns, what is summed over; of matrices and of batches of them."""
    rows, matrix = torch.randn(count, 24).bfloat16(), torch.randn(24, 40).bfloat16()
    check_equal(by_rows(rows, matrix), rows.double() @ matrix.double())
    both, matrices = torch.randn(2, count, 24).bfloat16(), torch.randn(2, 24, 40).bfloat16()
    check_equal(by_rows(both, matrices), both.double() @ matrices.double())
    made = by_columns(matrix.t(), rows.t(), out=torch.empty(40, count))
    check_equal(made, matrix.t().double() @ rows.t().double())
    other = torch.randn(count, 16).bfloat16()
    exact = rows.t().double() @ other.double()
    check_equal(by_inner(rows.t(), other), exact)
    total = torch.ones(24, 16)
    add_by_inner(total, rows.t(), other)
    check_equal(total - 1, exact)
    others = torch.randn(2, count, 16).bfloat16()
    check_equal(
        by_inner(both.transpose(1, 2), others), both.transpose(1, 2).double() @ others.double()
    )


def check_equal(found: Tensor, exact: Tensor) -> None:
    """But for the rounding of the result."""
    assert found.shape == exact.shape
    assert apart(found.double(), exact) < 5e-3


def rounded(*shape: int) -> Tensor:
    return torch.zeros(shape, dtype=torch.bfloat16)


#: Products of a size that varies, each with the code that oneDNN makes for shapes and strides.
VARYING: dict[str, Callable[[int], Tensor]] = {
    "rows": lambda count: by_rows(rounded(count, 4), rounded(4, 4)),
    "rows of two": lambda count: by_rows(rounded(2, count, 4), rounded(2, 4, 4)),
    "rows of one": lambda count: by_rows(rounded(1, count, 4), rounded(1, 4, 4)),
    "columns": lambda count: by_columns(
        rounded(4, 4), rounded(4, count), out=torch.empty(4, count)
    ),
    "turned columns": lambda count: by_columns(
        rounded(4, 4), rounded(count, 4).t(), out=torch.empty(4, count)
    ),
    "inner": lambda count: by_inner(rounded(4, count), rounded(count, 4)),
    "turned inner": lambda count: by_inner(rounded(count, 4).t(), rounded(count, 4)),
    "inner of two": lambda count: by_inner(
        rounded(2, count, 4).transpose(1, 2), rounded(2, count, 4)
    ),
}


@pytest.mark.parametrize("varying", VARYING)
def test_shapes_of_rounded_products_recur(varying: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each new one oneDNN keeps code; a training has as many batches as it has shapes."""
    seen = set()

    def noting(multiplied: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def noted(*factors: Tensor) -> Tensor:
            seen.add(tuple((each.shape, each.stride()) for each in factors))
            return multiplied(*factors)

        return noted

    for name in ("matmul", "mm"):
        monkeypatch.setattr(torch, name, noting(getattr(torch, name)))
    for count in range(1, 2200):
        VARYING[varying](count)
    assert len(seen) == LARGE // BLOCK + BLOCK // STEP - 1  # 256 is a block, and no rest


def test_parts_cover_everything_once() -> None:
    for count in [*range(600), 1023, 1024, 1025, 2000, 4095, 4096, 4097]:
        found = list(parts(count))
        end = 0
        for start, length, _ in found:
            assert start == end
            end += length
        assert end == count
        step = STEP if count < BLOCK else BLOCK
        assert all(size % step == 0 and 0 <= size - length < step for _, length, size in found)


@pytest.mark.parametrize("count", [32, 40, 255, 256, 700, 4096])
def test_an_even_number_of_rows_needs_no_zeros(count: int) -> None:
    assert even(count) == count  # in full precision nothing is cut
    with rounded_factors():
        found = even(count)
    assert all(length == size for _, length, size in parts(found))
    assert 0 <= count - found < (STEP if count < BLOCK else BLOCK)
