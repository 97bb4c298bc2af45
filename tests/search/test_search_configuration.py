"""The search section of a configuration, and the ids that search shares with data."""

import pytest
from pydantic import ValidationError

from regard.data import special
from regard.search import SearchConfiguration, hypothesis


def test_defaults() -> None:
    configuration = SearchConfiguration()
    assert configuration.beam == 5
    assert configuration.length_penalty == 1.0
    assert configuration.maximum_length_ratio == 2.0
    assert configuration.maximum_length_extra == 20
    assert configuration.minimum_length == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"beam": 0},
        {"beam": 2.5},
        {"length_penalty": float("nan")},
        {"length_penalty": float("inf")},
        {"length_penalty": -11},
        {"maximum_length_ratio": -1},
        {"maximum_length_ratio": float("inf")},
        {"maximum_length_extra": -1},
        {"minimum_length": -1},
        {"beams": 5},
    ],
)
def test_wrong_values_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        SearchConfiguration(**wrong)


def test_frozen() -> None:
    with pytest.raises(ValidationError):
        SearchConfiguration().beam = 3  # type: ignore[misc]


def test_special_ids_agree_with_the_vocabularies() -> None:
    for name in ("PAD", "UNKNOWN", "START", "END"):
        assert getattr(hypothesis, name) == getattr(special, name)
    assert hypothesis.NEVER_EMITTED == (special.PAD, special.UNKNOWN, special.START)
