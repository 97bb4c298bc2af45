"""Attention as pages, pictures and data.

Nothing here imports torch; matplotlib is imported when a PNG is drawn.
"""

from regard.views.attention_view import AttentionView
from regard.views.caption_view import caption_view
from regard.views.heatmap_png import attention_png
from regard.views.heatmap_svg import attention_svg
from regard.views.json_view import attention_json
from regard.views.page_html import attention_html
from regard.views.report_html import (
    Figure,
    Link,
    Picture,
    Report,
    Section,
    Step,
    report_html,
    write_report,
)
from regard.views.save import SUFFIXES, check_suffix, save_view
from regard.views.seen_image import SeenImage, keep_image
from regard.views.tiles_png import tiles_png
from regard.views.tiles_svg import tiles_svg
from regard.views.translation_view import translation_view

__all__ = [
    "SUFFIXES",
    "AttentionView",
    "Figure",
    "Link",
    "Picture",
    "Report",
    "Section",
    "SeenImage",
    "Step",
    "attention_html",
    "attention_json",
    "attention_png",
    "attention_svg",
    "caption_view",
    "check_suffix",
    "keep_image",
    "report_html",
    "save_view",
    "tiles_png",
    "tiles_svg",
    "translation_view",
    "write_report",
]
