"""docs/configuration.md names every key, with the default and the choices that it has."""

import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml

from regard.training.configuration import Configuration
from regard.training.continuation import flat
from regard.training.keys import section_at

from .documents import ROOT, read

#: Of encoder and decoder.
KINDS = (
    ("recurrent", "recurrent"),
    ("transformer", "transformer"),
    ("recurrent", "hard_attention"),
    ("universal_transformer", "universal_transformer"),
    ("grid", "recurrent"),
)
every_kind = pytest.mark.parametrize("kinds", KINDS, ids=["-".join(kinds) for kinds in KINDS])
_ROW = re.compile(r"^\| `([\w.]+)` \| (.+?) \| (.+?) \| (.+?) \|$")


def absent(kinds: tuple[str, str]) -> str:
    """The section that is null: pictures have no tokens, texts need no backbone."""
    return "tokenization.source" if kinds[0] == "grid" else "backbone"


def rows(kinds: tuple[str, str]) -> Iterator[tuple[str, str, str]]:
    """Key, values and default of each row that holds for encoder and decoder of these kinds."""
    encoder, decoder = kinds
    heading = ""
    for line in read(ROOT / "docs" / "configuration.md").split("\n"):
        heading = line if line.startswith("#") else heading
        named = re.search(r"`model\.(\w+)` with `kind: (\w+)`", heading)
        row = _ROW.match(line)
        chosen = encoder if named and named[1] == "encoder" else decoder
        if row and (named is None or named[2] == chosen):
            key, values, default, _ = row.groups()
            for side in ("source", "target") if "SIDE" in key else ("",):
                written = key.replace("SIDE", side)
                if not written.startswith(f"{absent(kinds)}."):
                    yield written, values, default


def data(kinds: tuple[str, str]) -> dict[str, Any]:
    encoder, decoder = kinds
    return {"recipe": "x", "model": {"encoder": {"kind": encoder}, "decoder": {"kind": decoder}}}


@every_kind
def test_every_key_and_default(kinds: tuple[str, str]) -> None:
    listed = list(rows(kinds))
    documented = {key: yaml.safe_load(default) for key, _, default in listed}
    assert len(documented) == len(listed), "a key comes twice"
    expected = flat(Configuration.model_validate(data(kinds)).as_dict())
    assert documented.pop("recipe") == "required"
    del expected["recipe"]
    assert expected.pop(absent(kinds)) is None
    assert documented == expected


@every_kind
def test_every_choice(kinds: tuple[str, str]) -> None:
    seen = 0
    for key, values, _ in rows(kinds):
        *section, last = key.split(".")
        (holder,) = section_at(Configuration, data(kinds), section)
        fields = {field.alias or name: field for name, field in holder.model_fields.items()}
        annotation = fields[last].annotation
        if get_origin(annotation) is Literal:
            choices = [str(each) for each in get_args(annotation)]
            assert re.findall(r"`(\w+)`", values) == choices, key
            seen += 1
        elif annotation is bool:
            assert values == "true, false", key
    assert seen > 8
