"""The four special symbols: the same ids in every vocabulary."""

PAD, UNKNOWN, START, END = 0, 1, 2, 3

#: How each special is shown to a person; a special's id is its index.
SPECIAL_TOKENS: tuple[str, ...] = ("<pad>", "<unk>", "<s>", "</s>")
