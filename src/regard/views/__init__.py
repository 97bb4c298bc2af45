"""Attention as pages, pictures and data.

Nothing here imports torch; matplotlib is imported when a PNG is drawn.
"""

from regard.views.attention_view import AttentionView
from regard.views.heatmap_png import attention_png
from regard.views.heatmap_svg import attention_svg
from regard.views.json_view import attention_json
from regard.views.page_html import attention_html
from regard.views.report_html import (
    Figure,
    Picture,
    Report,
    Section,
    Step,
    report_html,
    write_report,
)
from regard.views.save import SUFFIXES, check_suffix, save_view

__all__ = [
    "SUFFIXES",
    "AttentionView",
    "Figure",
    "Picture",
    "Report",
    "Section",
    "Step",
    "attention_html",
    "attention_json",
    "attention_png",
    "attention_svg",
    "check_suffix",
    "report_html",
    "save_view",
    "write_report",
]
