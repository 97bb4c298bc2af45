"""What every section of a model's configuration is, and what several of them check."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0.0, lt=1.0)]
Size = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A frozen part of the configuration; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def check_residual(residual: bool, layers: int) -> None:
    """Raises ValueError where there is no second layer to add from."""
    if residual and layers < 2:
        raise ValueError("residual needs 2 layers or more: it adds from the second one on")


def check_copying(copying: bool, unseen: float) -> None:
    """Raises ValueError where symbols are hidden from a decoder that cannot copy them."""
    if unseen and not copying:
        raise ValueError("copying_unseen is for a decoder with copying")
