"""Texts that tokenizers stumble over."""

import random

#: Everything here must come back from every tokenizer as it went in.
SYMBOLS = (
    *"abcXYZ0129.,!?\"'<>/&",
    *("é", "ß", "ı", "İ", "ç", "你", "好", "한", "न", "ि", "😀", "\u200d", "\ufe0f", "\u0301"),
    *("\t", "\r", "\0", "\x0b", "\x1c", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000"),
    *("\u2581", "\u2585", "\u200b", "\ufeff", "\u00ad", "\u200f", "\ufffd", "\ufffe", "\uffff"),
    *("\ue000", "\U0010ffff", "⁇", "<s>", "</s>", "<unk>", "<pad>", "<0x41>", "\\", "@@", "##"),
)


def nasty_texts(count: int, seed: int, longest: int = 30, spaces: int = 1) -> list[str]:
    """Texts of random symbols; between words up to `spaces` spaces, none at the ends."""
    generator = random.Random(seed)
    texts = []
    for _ in range(count):
        words = []
        for _ in range(generator.randint(1, 5)):
            words.append("".join(generator.choices(SYMBOLS, k=generator.randint(1, longest // 5))))
        text = words[0]
        for word in words[1:]:
            text += " " * generator.randint(1, spaces) + word
        if text.strip():
            texts.append(text)
    return texts


SENTENCES = (
    "A dog runs across the green grass.",
    "Two dogs are running in the park.",
    "A man in a green shirt is holding a guitar.",
    "The other man observes his shirt.",
    "Ein Hund läuft über das grüne Gras.",
    "Zwei Hunde rennen im Park.",
    "Ein Mann in grünem Hemd hält eine Gitarre.",
    "Der andere Mann betrachtet sein Hemd.",
    "Une femme marche près de l'église.",
)
