"""The verbs: known by name and summary, loaded when called."""

from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from regard import __version__
from regard.errors import UserError

#: Each verb is the function of its name in the module of its name beside this one.
VERBS = {
    "demo": "Train, measure and look at three small models on its own data.",
    "recipes": "List the recipes, or print one as YAML to start from.",
    "train": "Train a model on pairs of texts.",
    "translate": "Translate lines of text.",
    "caption": "Describe images.",
    "evaluate": "Measure a model on pairs of texts.",
    "report": "Write everything about a model on one page.",
    "score": "Log-probability of given targets.",
    "show": "Draw what the model attends to.",
    "explore": "Look into models live, in a browser.",
    "align": "Align the words of given pairs.",
    "info": "What a model is, how it was trained, how good it is.",
    "scenes": "Write the scenes data: pictures, texts and gold alignments.",
}

_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class Verbs(TyperGroup):
    """A group that lists its verbs from the table and imports the one that is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in VERBS:
            return load(cmd_name)
        if ctx.resilient_parsing or cmd_name.startswith("-"):
            return None
        near = get_close_matches(cmd_name, VERBS, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"choose one of {', '.join(VERBS)}"
        raise UserError(f"there is no verb `{cmd_name}`; {hint}")

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def load(verb: str) -> Any:
    """The command of one verb; only its module is imported."""
    module = import_module(f"regard.cli.{verb}")
    application = typer.Typer(**_SETTINGS)
    application.command(verb, short_help=VERBS[verb])(getattr(module, verb))
    return typer.main.get_command(application)


def application() -> Any:
    """The whole command line, none of its verbs loaded."""
    settings = _SETTINGS | {"add_completion": True}
    app = typer.Typer(cls=Verbs, invoke_without_command=True, **settings)
    app.callback()(_regard)
    return typer.main.get_command(app)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"regard {__version__}")
        raise typer.Exit


def _regard(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Train, run and look into sequence models with attention, on your own data.

    `regard VERB --help` tells what a verb takes.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
