"""Signatures: what makes a figure of captions comparable."""


def signature(*parts: str) -> str:
    """How captions were cut, and what else a metric was computed with, as sacreBLEU writes it."""
    return "|".join(("tok:ptb", "case:lc", "punct:no", *parts))
