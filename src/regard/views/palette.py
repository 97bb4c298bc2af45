"""The colors of pictures; pages take the same ones, and their dark counterparts, from page.css."""

PAPER = "#ffffff"
INK = "#1c1e24"
MUTED = "#6a6d76"
EMPTY = "#f0f2f7"  # a cell of weight 0
ACCENT = "#1d45ad"  # a cell of weight 1
STEPS = "#8a5a00"  # a token of the most steps

SANS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', 'Noto Sans Arabic', "
    "'Noto Sans Hebrew', 'Noto Sans Devanagari', 'Noto Sans CJK SC', 'Noto Color Emoji', sans-serif"
)
