"""Tokenizers: text to ids and back."""

from regard.data.tokenizers.opening import Opened, copy_table, open_source, open_target
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
    "Opened",
    "Tokenized",
    "Tokenizer",
    "Tokenizers",
    "copy_table",
    "load_tokenizer",
    "load_tokenizers",
    "named",
    "open_source",
    "open_target",
    "save_tokenizers",
    "seed_sampling",
    "train_tokenizers",
    "unseen_symbols",
]
