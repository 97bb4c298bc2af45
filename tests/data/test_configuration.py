from typing import Any

import pytest
from pydantic import ValidationError

from regard.data.configuration import (
    BatchingConfiguration,
    TokenizationConfiguration,
    TokenizerConfiguration,
)


def test_defaults() -> None:
    both = TokenizationConfiguration()
    assert both.joint
    assert both.source == both.target == TokenizerConfiguration(kind="subword", size=8000)


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "word"},
        {"size": 4},
        {"sampling": 1.5},
        {"sampling": -0.1},
        {"normalization": "nfc"},
        {"minimum_count": 0},
        {"sise": 100},
        {"kind": "character", "sampling": 0.1},
        {"kind": "subword", "minimum_count": 2},
    ],
)
def test_wrong_values_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TokenizerConfiguration(**values)


def test_a_joint_vocabulary_needs_equal_sides() -> None:
    source = TokenizerConfiguration(kind="character")
    target = TokenizerConfiguration(kind="space")
    with pytest.raises(ValidationError, match="differ in kind; make them equal or set joint"):
        TokenizationConfiguration(source=source, target=target)
    assert not TokenizationConfiguration(joint=False, source=source, target=target).joint


def test_configurations_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        TokenizerConfiguration().size = 3


@pytest.mark.parametrize("values", [{"tokens": 0}, {"maximum_length": 1}, {"pool": -1}])
def test_batching_limits(values: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        BatchingConfiguration(**values)
