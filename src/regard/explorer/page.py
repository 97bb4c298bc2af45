"""The explorer's page: the controls, and room for a panel a model; all else comes by its script.

Its script is that of the attention page with the explorer's own files behind it, and so is its
style: what is drawn live is what `show` draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from regard.explorer.bodies import MOST_PHOTO
from regard.explorer.questions import MOST_BEAM, MOST_CHARACTERS
from regard.explorer.shelf import Shelved
from regard.views.json_view import dumps_for_script
from regard.views.page_html import CAUTION, script, style

_SCRIPTS = ("making.js", "tree.js", "whatif.js", "grid.js", "panel.js", "explorer.js")

_TEXT = """<label class="field wide">Text
<textarea name="text" rows="3" dir="auto" autofocus spellcheck="false"></textarea></label>
"""
_FEATURES = (
    '<label class="field">Features<input name="features" dir="auto" autocomplete="off"></label>\n'
)
_PHOTO = """<div class="drop" tabindex="0" role="button" aria-label="Choose a photo">
<span>Drop a photo here, paste it, or click to choose one</span>
<input name="file" type="file" accept="image/*" tabindex="-1"></div>
"""


def explorer_page(shelf: Sequence[Shelved]) -> str:
    """The page, before anything was asked."""
    photos = shelf[0].reads_photos
    settings = {
        "models": [each.described() for each in shelf],
        "characters": MOST_CHARACTERS,
        "photo": MOST_PHOTO,
    }
    features = _FEATURES if any(each.model.tokenizers.features for each in shelf) else ""
    names = escape(", ".join(each.name for each in shelf))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="regard">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/explorer.css">
<title>{names} · regard</title>
</head>
<body>
<main class="explorer">
<h1>Explore</h1>
<form class="ask">
{_PHOTO if photos else _TEXT}{features}<label class="field">Begin the output with
<input name="write" dir="auto" autocomplete="off" spellcheck="false"></label>
<label class="field narrow">Beam
<input name="beam" type="number" min="1" max="{MOST_BEAM}" step="1" placeholder="own"></label>
<button type="submit">{"Describe" if photos else "Translate"}</button>
</form>
<p class="trouble" role="alert" hidden></p>
<noscript><p>This page works by its script.</p></noscript>
<div class="side-by-side"></div>
<footer><p>{CAUTION}</p></footer>
</main>
<script type="application/json" id="settings">{dumps_for_script(settings)}</script>
<script src="/explorer.js"></script>
</body>
</html>
"""


def explorer_script() -> str:
    """All script there is."""
    return script(*(_asset(name) for name in _SCRIPTS))


def explorer_style() -> str:
    """All style there is."""
    return style(_asset("explorer.css"))


def _asset(name: str) -> str:
    folder = files("regard.explorer").joinpath("assets")
    return folder.joinpath(name).read_text(encoding="utf-8")
