"""regard: train, run, look into and ship sequence models with attention."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "AlignedPair",
    "AttentionChoice",
    "Candidate",
    "Caption",
    "Model",
    "Sampling",
    "Translation",
    "__version__",
    "load",
]

if TYPE_CHECKING:
    from regard.api import (
        AlignedPair,
        AttentionChoice,
        Candidate,
        Caption,
        Model,
        Sampling,
        Translation,
        load,
    )


def __getattr__(name: str) -> Any:
    """Import what needs torch only when it is asked for."""
    if name in __all__:
        from regard import api

        return getattr(api, name)
    raise AttributeError(f"module 'regard' has no attribute {name!r}")
