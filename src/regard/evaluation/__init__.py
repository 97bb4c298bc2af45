"""How good outputs are: text metrics, error rates, alignments, intervals.

Nothing here imports sacreBLEU or numpy before a function needs it.
"""

from regard.evaluation.alignment import (
    Links,
    alignment_error_rate,
    alignment_scores,
    diagonal,
    links_from_attention,
)
from regard.evaluation.alignment_files import (
    format_links,
    parse_links,
    read_alignments,
    write_alignments,
)
from regard.evaluation.baseline import CopyOrMemorize
from regard.evaluation.confusions import Confusion, Confusions, find_confusions
from regard.evaluation.intervals import Interval, bootstrap_interval
from regard.evaluation.metric import better, measure
from regard.evaluation.moses import moses_bleu
from regard.evaluation.pointing import (
    Noun,
    PointedNoun,
    Pointing,
    grade_nouns,
    grade_pointing,
    phrase_tokens,
)
from regard.evaluation.report import BETTER, METRICS, Evaluation, evaluate_texts
from regard.evaluation.score import Score
from regard.evaluation.split import Split, evaluate_split
from regard.evaluation.symmetrization import SYMMETRIZATIONS, symmetrize
from regard.evaluation.text import bleu, chrf, ter
from regard.evaluation.transduction import (
    character_symbols,
    exact_match,
    spaced_symbols,
    symbol_error_rate,
    symbols_of,
    word_error_rate,
)

__all__ = [
    "BETTER",
    "METRICS",
    "SYMMETRIZATIONS",
    "Confusion",
    "Confusions",
    "CopyOrMemorize",
    "Evaluation",
    "Interval",
    "Links",
    "Noun",
    "PointedNoun",
    "Pointing",
    "Score",
    "Split",
    "alignment_error_rate",
    "alignment_scores",
    "better",
    "bleu",
    "bootstrap_interval",
    "character_symbols",
    "chrf",
    "diagonal",
    "evaluate_split",
    "evaluate_texts",
    "exact_match",
    "find_confusions",
    "format_links",
    "grade_nouns",
    "grade_pointing",
    "links_from_attention",
    "measure",
    "moses_bleu",
    "parse_links",
    "phrase_tokens",
    "read_alignments",
    "spaced_symbols",
    "symbol_error_rate",
    "symbols_of",
    "symmetrize",
    "ter",
    "word_error_rate",
    "write_alignments",
]
