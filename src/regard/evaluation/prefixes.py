"""Prefixes: what outputs are made to begin with, as ids, or why they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from regard.data.special import END, UNKNOWN
from regard.data.tokenizers import Tokenizers, named, unseen_symbols
from regard.errors import UserError
from regard.evaluation.asking import read_target
from regard.models import Model
from regard.search import Ensemble, SearchConfiguration
from regard.search.hypothesis import NEVER_EMITTED
from regard.search.length import length_limits
from regard.search.prefix import PrefixDecoder

#: How an output is to begin: a text, or tokens as a decoder lists them.
Prefix = str | Sequence[str]


def read_prefix(tokenizers: Tokenizers, prefix: Prefix | None) -> tuple[int, ...]:
    """The ids of a prefix, none for None and for a blank one.

    Raises UserError for a symbol that the model cannot write, and for an end symbol.
    """
    if not prefix or (isinstance(prefix, str) and not prefix.strip()):
        return ()
    ids = read_target(tokenizers, prefix)
    ids = ids[:-1] if isinstance(prefix, str) else ids
    if UNKNOWN in ids:
        unseen = named(unseen_symbols(tokenizers.target, prefix))
        raise UserError(f"the output cannot begin with what the model never writes: {unseen}")
    if not {*NEVER_EMITTED, END}.isdisjoint(ids):
        raise UserError("the output cannot begin with a special symbol, such as </s>, its end")
    return ids


def check_room(
    prefix: Sequence[int], positions: int, search: SearchConfiguration, longest: int | None
) -> None:
    """Raises UserError where the length limit of a source of so many positions leaves a prefix no
    room to go on; ``longest``: the model's own limit."""
    if not prefix:
        return
    limit = int(length_limits(torch.tensor([positions]), search, longest))
    if len(prefix) >= limit:
        raise UserError(
            f"the output is to begin with {len(prefix)} tokens, but has at most {limit} for this "
            "source; let it begin with fewer, or raise search.maximum_length_extra"
        )


def forced(model: Model | Ensemble, prefixes: Sequence[Sequence[int]], device: torch.device) -> Any:
    """A decoder that writes them: the model itself where there are none."""
    return PrefixDecoder(model, prefixes, device) if any(prefixes) else model


def check_begun(tokenizers: Tokenizers, prefix: Sequence[int], tokens: Sequence[int]) -> None:
    """Raises UserError where an output does not begin with a prefix: it has no probability."""
    for place, token in enumerate(prefix):
        if place >= len(tokens) or tokens[place] != token:
            (name,) = tokenizers.target.describe([token]).tokens
            raise UserError(f"the model gives {name}, token {place + 1}, no probability there")
