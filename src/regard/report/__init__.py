"""The report of a model: what was found out about it, as one page."""

from regard.report.findings import Alignments, Findings, Lengths
from regard.report.history import History, read_history
from regard.report.page import model_report

__all__ = ["Alignments", "Findings", "History", "Lengths", "model_report", "read_history"]
