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

KINDS = ("recurrent", "transformer")
_ROW = re.compile(r"^\| `([\w.]+)` \| (.+?) \| (.+?) \| (.+?) \|$")


def rows(kind: str) -> Iterator[tuple[str, str, str]]:
    """Key, values and default of each row that holds for encoders and decoders of a kind."""
    heading = ""
    for line in read(ROOT / "docs" / "configuration.md").split("\n"):
        heading = line if line.startswith("#") else heading
        named = re.search(r"`kind: (\w+)`", heading)
        row = _ROW.match(line)
        if row and (named is None or named[1] == kind):
            key, values, default, _ = row.groups()
            for side in ("source", "target") if "SIDE" in key else ("",):
                yield key.replace("SIDE", side), values, default


def data(kind: str) -> dict[str, Any]:
    return {"recipe": "x", "model": {"encoder": {"kind": kind}, "decoder": {"kind": kind}}}


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_and_default(kind: str) -> None:
    listed = list(rows(kind))
    documented = {key: yaml.safe_load(default) for key, _, default in listed}
    assert len(documented) == len(listed), "a key comes twice"
    expected = flat(Configuration.model_validate(data(kind)).as_dict())
    assert documented.pop("recipe") == "required"
    del expected["recipe"]
    assert documented == expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_choice(kind: str) -> None:
    seen = 0
    for key, values, _ in rows(kind):
        *section, last = key.split(".")
        (holder,) = section_at(Configuration, data(kind), section)
        fields = {field.alias or name: field for name, field in holder.model_fields.items()}
        annotation = fields[last].annotation
        if get_origin(annotation) is Literal:
            assert re.findall(r"`(\w+)`", values) == list(get_args(annotation)), key
            seen += 1
        elif annotation is bool:
            assert values == "true, false", key
    assert seen > 8
