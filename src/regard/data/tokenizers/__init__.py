"""Tokenizers: text to ids and back."""

from regard.data.tokenizers.protocol import Tokenized, Tokenizer
from regard.data.tokenizers.sampling import seed_sampling
from regard.data.tokenizers.sides import (
    Tokenizers,
    load_tokenizer,
    load_tokenizers,
    save_tokenizers,
    train_tokenizers,
)
from regard.data.tokenizers.unseen import named, unseen_symbols

__all__ = [
    "Tokenized",
    "Tokenizer",
    "Tokenizers",
    "load_tokenizer",
    "load_tokenizers",
    "named",
    "save_tokenizers",
    "seed_sampling",
    "train_tokenizers",
    "unseen_symbols",
]
