"""The demo verb."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIRECTORY", help="Where models and the page go; must be new.")
    ] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, metavar="S", help="Of data and training.")] = 1,
) -> None:
    """Train two small models on data that comes along, measure them, and look into them."""
    from regard.cli.streams import report, write_line
    from regard.cli.table import table
    from regard.demo import pronouncer, run_task, translator, write_page
    from regard.demo.page import figures, next_steps
    from regard.errors import UserError
    from regard.files import make_directory

    if out.exists():
        raise UserError(f"{out} exists; name another place with --out, or remove it first")
    make_directory(out)
    outcomes = []
    for make in (pronouncer, translator):
        task = make(seed)
        report(f"\n{task.heading}\n{task.about}")
        outcome = run_task(task, out / task.name, seed=seed)
        rows = [(row.label, row.value, row.explanation) for row in figures(outcome)]
        write_line("")
        write_line(task.heading)
        for line in table(rows, right=(1,)):
            write_line("  " + line)
        outcomes.append(outcome)
    page = write_page(outcomes, out)
    write_line(f"\nOpen {page} in a browser. Then try:\n")
    for step in next_steps(out):
        write_line(f"  {step.explanation}\n    {step.command}")
