"""Projections of query, key, value and output: which there are, and how they start."""

from __future__ import annotations

from collections.abc import Collection

from torch import nn

from regard.attention.linear import glorot_linear

PROJECTIONS = ("query", "key", "value", "output")


def chosen_projections(
    project: bool | Collection[str] | None, score: str, heads: int
) -> frozenset[str]:
    """Names of the projections there are.

    All for several heads and none for one, unless ``project`` says otherwise; additive and concat
    always project queries and keys: those are their ``W_a`` and ``U_a``.
    """
    if project is None:
        project = heads > 1
    if isinstance(project, bool):
        names = frozenset(PROJECTIONS if project else ())
    else:
        names = frozenset((project,) if isinstance(project, str) else project)
        if unknown := names - set(PROJECTIONS):
            raise ValueError(f"project: {sorted(unknown)} is none of {', '.join(PROJECTIONS)}")
    if score in ("additive", "concat"):
        return names | {"query", "key"}
    return names - {"key"} if score == "location" else names  # it compares no keys


def projection(wanted: bool, inputs: int, outputs: int, bias: bool) -> nn.Linear | None:
    """A projection with Glorot's uniform weights and a zero bias, each matrix on its own."""
    return glorot_linear(inputs, outputs, bias=bias) if wanted else None


def per_head(name: str, size: int, heads: int) -> int:
    """The size of one head."""
    if size % heads:
        raise ValueError(f"{name} size {size} does not divide into {heads} heads")
    return size // heads


def shared_heads(heads: int, key_heads: int | None, score: str) -> int:
    """How many heads of keys and values there are."""
    if key_heads is None or key_heads == heads:
        return heads
    if score not in ("dot", "scaled_dot", "general"):
        raise ValueError(f"key_heads below heads is for dot, scaled_dot and general, not {score!r}")
    if not 0 < key_heads < heads or heads % key_heads:
        raise ValueError(f"{heads} heads do not divide among {key_heads} heads of keys")
    return key_heads
