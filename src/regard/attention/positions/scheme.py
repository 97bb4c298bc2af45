"""What an attention can do with the positions of its queries and keys."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor, nn


class PositionScheme(nn.Module):
    """Rotates projected queries and keys, or adds a bias to their scores. This one does neither."""

    def rotate(
        self, heads: Float[Tensor, "batch heads n size"], positions: Int[Tensor, "rows n"]
    ) -> Float[Tensor, "batch heads n size"]:
        """Queries or keys, marked with their positions (``rows`` is 1 or the batch)."""
        return heads

    def bias(
        self, queries: Int[Tensor, "rows queries"], keys: Int[Tensor, "rows positions"]
    ) -> Float[Tensor, "rows heads queries positions"] | None:
        """What is added to the scores; None = nothing."""
        return None


def make_scheme(
    chosen: str | PositionScheme | None, heads: int, query_part: int, key_part: int
) -> PositionScheme | None:
    """The scheme of that name for heads of those sizes; a module of the caller's own passes."""
    from regard.attention.positions.alibi import ALiBi
    from regard.attention.positions.relative import RelativeBias
    from regard.attention.positions.rotary import Rotary

    if chosen is None or isinstance(chosen, PositionScheme):
        scheme = chosen
    elif chosen == "rotary":
        scheme = Rotary()
    elif chosen == "alibi":
        scheme = ALiBi(heads)
    elif chosen == "relative":
        scheme = RelativeBias(heads)
    else:
        raise ValueError(f"position_scheme {chosen!r} is none of rotary, alibi, relative")
    if isinstance(scheme, Rotary) and (query_part % 2 or key_part % 2):
        odd = query_part if query_part % 2 else key_part
        raise ValueError(f"rotary positions turn pairs: heads of size {odd} are not even")
    if isinstance(scheme, ALiBi | RelativeBias) and scheme.heads != heads:
        raise ValueError(f"a position scheme of {scheme.heads} heads for {heads} heads")
    return scheme
