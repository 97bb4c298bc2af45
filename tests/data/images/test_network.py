"""Any torch module as a backbone; timm's models through a timm of the test's own."""

import sys
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from regard.data.images.backbone import load_backbone
from regard.data.images.configuration import BackboneConfiguration
from regard.data.images.network import NetworkBackbone
from regard.data.images.timm_models import make_timm
from regard.errors import UserError

from .drawn import noise, quarters


class Averages(nn.Module):
    """The mean color of every cell of 8 by 8 pixels, and a weight that nothing reads."""

    def __init__(self, vectors: bool = False) -> None:
        super().__init__()
        self.pool = nn.AvgPool2d(8)
        self.vectors = vectors
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, images: Tensor) -> Tensor:
        maps = self.scale * self.pool(images)
        return maps.flatten(2).transpose(1, 2) if self.vectors else maps


@pytest.mark.parametrize("vectors", [False, True])
def test_cells_are_row_by_row_from_the_top_left(vectors: bool) -> None:
    backbone = NetworkBackbone(
        "averages", Averages(vectors), 32, mean=(127, 127, 127), deviation=(128, 128, 128)
    )
    assert (backbone.rows, backbone.columns, backbone.size) == (4, 4, 3)
    image = quarters(32, 32)
    made = backbone(backbone.prepare(image).unsqueeze(0))
    assert made.shape == (1, 16, 3) and not made.requires_grad
    for position in range(16):
        row, column = divmod(position, 4)
        color = torch.tensor(image.getpixel((8 * column + 4, 8 * row + 4)))
        torch.testing.assert_close(made[0, position], (color - 127) / 128)


def test_it_never_trains() -> None:
    module = nn.Sequential(nn.Conv2d(3, 4, 8, 8), nn.BatchNorm2d(4), nn.Dropout(0.5))
    backbone = NetworkBackbone("noisy", module, 16)
    images = torch.randn(2, 3, 16, 16)
    assert torch.equal(backbone(images), backbone(images))
    assert not any(parameter.requires_grad for parameter in module.parameters())
    assert int(module[1].num_batches_tracked) == 0


def test_fingerprints() -> None:
    changed = Averages()
    changed.scale.data += 1e-6
    made = [
        NetworkBackbone("a", Averages(), 32),
        NetworkBackbone("b", Averages(), 32),
        NetworkBackbone("a", changed, 32),
        NetworkBackbone("a", Averages(), 40),
        NetworkBackbone("a", Averages(), 32, framing="crop"),
        NetworkBackbone("a", Averages(), 32, mean=(127.5, 127.5, 127)),
        NetworkBackbone("a", Averages(), 32, deviation=(127.5, 127.5, 127)),
    ]
    assert len({backbone.fingerprint for backbone in made}) == len(made)
    assert NetworkBackbone("a", Averages(), 32).fingerprint == made[0].fingerprint
    assert all("\n" not in backbone.fingerprint for backbone in made)


@pytest.mark.parametrize("shape", [(1, 7, 3), (1, 7), (1, 2, 2, 2, 2)])
def test_what_is_no_grid(shape: tuple[int, ...]) -> None:
    module = nn.Identity()
    module.forward = lambda images: torch.zeros(shape)  # type: ignore[method-assign]
    with pytest.raises(ValueError, match=r"the network of odd gives shape .* square grid"):
        NetworkBackbone("odd", module, 16)


class Model(nn.Module):
    """As timm's models are: convolutions with strides 8, 16 and 32."""

    num_features = 6

    def __init__(self, tokens: bool) -> None:
        super().__init__()
        self.stages = nn.ModuleList(
            nn.Conv2d(inputs, outputs, stride, stride)
            for inputs, outputs, stride in ((3, 4, 8), (4, 5, 2), (5, 6, 2))
        )
        self.feature_info = [{"reduction": stride} for stride in (8, 16, 32)]
        self.num_prefix_tokens = 2 if tokens else 0

    def forward_features(self, images: Tensor) -> Tensor:
        for stage in self.stages:
            images = stage(images)
        if not self.num_prefix_tokens:
            return images
        vectors = images.flatten(2).transpose(1, 2)
        return torch.cat([torch.full_like(vectors[:, :2], 99.0), vectors], dim=1)

    def forward_intermediates(
        self, images: Tensor, indices: list[int], output_fmt: str, intermediates_only: bool
    ) -> list[Tensor]:
        assert output_fmt == "NCHW" and intermediates_only
        made = []
        for stage in self.stages:
            images = stage(images)
            made.append(images)
        return [made[index] for index in indices]


class Last(Model):
    """A model whose maps have their channels last."""

    def forward_features(self, images: Tensor) -> Tensor:
        return super().forward_features(images).permute(0, 2, 3, 1)


def own_timm(asked: list[dict[str, object]]) -> SimpleNamespace:
    """What regard reads of timm; `asked` gets what models are made with."""
    kinds = {
        "maps": lambda: Model(False),
        "tokens": lambda: Model(True),
        "last": lambda: Last(False),
    }

    def create_model(name: str, **options: object) -> Model:
        asked.append(options)
        if options.get("pretrained") and name == "last":
            raise RuntimeError("no pretrained weights")
        torch.manual_seed(5)
        return kinds[name]()

    config = {"mean": (0.5, 0.4, 0.3), "std": (0.2, 0.2, 0.1), "input_size": (3, 64, 64)}
    return SimpleNamespace(
        is_model=lambda name: name in kinds,
        create_model=create_model,
        models=SimpleNamespace(
            get_pretrained_cfg=lambda name: SimpleNamespace(fixed_input_size=name == "tokens")
        ),
        data=SimpleNamespace(resolve_model_data_config=lambda model: config),
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    monkeypatch.setitem(sys.modules, "timm", own_timm(made))
    return made


@pytest.mark.parametrize(
    ("layer", "side", "size"), [("head", 2, 6), ("last", 2, 6), ("middle", 4, 5)]
)
@pytest.mark.parametrize("name", ["maps", "tokens"])
def test_timm_layers(asked: list, name: str, layer: str, side: int, size: int) -> None:
    backbone = load_backbone(BackboneConfiguration(name=f"timm/{name}", layer=layer))
    assert asked == [{"pretrained": True, "num_classes": 0}]
    assert (backbone.rows, backbone.columns, backbone.size) == (side, side, size)
    assert backbone.input_size == 64
    torch.manual_seed(5)
    images = backbone.prepare(noise(1, 64))
    raw = torch.tensor(noise(1, 64).getpixel((3, 2)))
    expected = (raw / 255 - torch.tensor([0.5, 0.4, 0.3])) / torch.tensor([0.2, 0.2, 0.1])
    torch.testing.assert_close(images[:, 2, 3], expected)
    maps = images.unsqueeze(0)
    for stage in Model(False).stages[: 2 if layer == "middle" else 3]:
        maps = stage(maps)
    made = backbone(images.unsqueeze(0))
    torch.testing.assert_close(made, maps.flatten(2).transpose(1, 2), atol=1e-5, rtol=1e-4)


def test_timm_channels_last_weights_of_a_file_and_of_a_run(asked: list, tmp_path) -> None:
    with pytest.raises(UserError, match=r"timm cannot make last .no pretrained weights.*as a file"):
        load_backbone(BackboneConfiguration(name="timm/last"))
    torch.manual_seed(8)
    state = Last(False).state_dict()
    torch.save({**state, "classifier.weight": torch.ones(2)}, tmp_path / "x.pth")
    configuration = BackboneConfiguration(name="timm/last", weights=str(tmp_path / "x.pth"))
    backbone = load_backbone(configuration)
    assert asked[-1]["pretrained"] is False
    images = backbone.prepare(noise(1, 64)).unsqueeze(0)
    torch.manual_seed(8)
    maps = Model(False).forward_features(images)
    torch.testing.assert_close(
        backbone(images), maps.flatten(2).transpose(1, 2), atol=1e-5, rtol=1e-4
    )
    again = make_timm(BackboneConfiguration(name="timm/last"), backbone.weights())
    assert torch.equal(again(images), backbone(images))
    assert again.fingerprint == backbone.fingerprint
    del state["stages.1.bias"]
    torch.save(state, tmp_path / "x.pth")
    with pytest.raises(UserError, match=r"weights of another model: it has no stages\.1\.bias"):
        load_backbone(configuration)


def test_timm_sizes(asked: list) -> None:
    assert load_backbone(BackboneConfiguration(name="timm/maps", image_size=96)).rows == 3
    assert asked.pop() == {"pretrained": True, "num_classes": 0}
    load_backbone(BackboneConfiguration(name="timm/tokens", image_size=96))
    assert asked.pop() == {"pretrained": True, "num_classes": 0, "img_size": 96}


def test_timm_models_of_one_stride_have_no_middle(
    asked: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flat(name: str, **options: object) -> Model:
        model = Model(True)
        model.feature_info = [{"reduction": 16}] * 3
        return model

    monkeypatch.setattr(sys.modules["timm"], "create_model", flat)
    with pytest.raises(UserError, match="half the stride of its last, which is layer 'middle'"):
        load_backbone(BackboneConfiguration(name="timm/tokens", layer="middle"))


def test_timm_refusals(asked: list, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"timm has no model 'resnet'; choose one of timm\.list"):
        load_backbone(BackboneConfiguration(name="timm/resnet"))
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(UserError, match="needs timm, which is missing; pip install timm"):
        load_backbone(BackboneConfiguration(name="timm/maps"))
