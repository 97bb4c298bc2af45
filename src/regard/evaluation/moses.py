"""BLEU of lower-cased text in Moses' tokens: the figure of many papers, never to be mixed with
sacreBLEU's of raw text."""

from collections.abc import Callable, Sequence

from regard.errors import UserError
from regard.evaluation.score import Score
from regard.evaluation.text import corpus_score


def moses_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    language: str,
    *,
    resamples: int = 0,
) -> Score:
    """Corpus BLEU after lower-casing and tokenising both sides as Moses' `tokenizer.perl` does.

    language: of the targets, by its code (`de`): which abbreviations end without a sentence's end.
    Other arguments as of `bleu`. The tokens are those of sacremoses, without escapes; the
    signature tells so. Raises UserError, beside what `bleu` raises, where sacremoses is missing or
    does not know the language.
    """
    from sacrebleu.metrics import BLEU

    tokenized, name = _tokenizer(language)
    return corpus_score(
        "moses_bleu",
        BLEU(force=True, lowercase=True, tokenize="none"),
        [tokenized(text) for text in hypotheses],
        [[tokenized(text) for text in accepted] for accepted in references],
        "higher",
        resamples,
        lambda signature: signature.replace("tok:none", f"tok:{name}"),
    )


def check_language(language: str) -> None:
    """Raises UserError where sacremoses is missing or does not know the language."""
    try:
        import sacremoses
    except ImportError as error:
        raise UserError(
            'BLEU in Moses\' tokens needs sacremoses, which is missing; pip install "regard[moses]"'
        ) from error
    known = set(sacremoses.corpus.NonbreakingPrefixes().available_langs.values())
    if language not in known:
        codes = ", ".join(sorted(known))
        raise UserError(f"Moses has no tokens for language {language!r}: choose from {codes}")


def _tokenizer(language: str) -> tuple[Callable[[str], str], str]:
    """What cuts a text into tokens with spaces between them, and its name in signatures."""
    check_language(language)
    from importlib.metadata import version

    import sacremoses

    moses = sacremoses.MosesTokenizer(language)

    def tokenized(text: str) -> str:
        return " ".join(moses.tokenize(text.lower(), escape=False))

    return tokenized, f"moses.{language}-sacremoses.{version('sacremoses')}"
