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
    """Train three small models on data that comes along, measure them, and look into them."""
    from regard.cli.streams import report, write_line
    from regard.cli.table import table
    from regard.demo import LANES, TASKS, Job, measure, train_side_by_side, write_page
    from regard.demo.page import figures, next_steps
    from regard.errors import UserError
    from regard.files import make_directory

    if out.exists():
        raise UserError(f"{out} exists; name another place with --out, or remove it first")
    tasks = [make(seed) for make in TASKS.values()]
    make_directory(out)
    for task in tasks:
        report(f"{task.heading}\n  {task.about}\n")
    train_side_by_side([[Job(name, out / name) for name in lane] for lane in LANES], seed)
    outcomes = [measure(task, out / task.name) for task in tasks]
    for outcome in outcomes:
        write_line(f"\n{outcome.task.heading}")
        rows = [(row.label, row.value, row.explanation) for row in figures(outcome)]
        for line in table(rows, right=(1,)):
            write_line("  " + line)
    page = write_page(outcomes, out)
    write_line(f"\nOpen {page} in a browser. Then try:\n")
    for step in next_steps(out):
        write_line(f"  {step.explanation}\n    {step.command}")
