"""The recipes verb: list them, or print one."""

from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson

if TYPE_CHECKING:
    from regard.models import GridShape
    from regard.training.configuration import Configuration


def recipes(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A recipe, or a YAML file of your own.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the recipes, or print one as YAML with every key written out.

    `regard recipes NAME > my.yaml` makes a file to change; train it with
    `regard train my.yaml ...`.
    """
    from regard.cli.answers import json_line
    from regard.cli.streams import write_lines
    from regard.training.recipes import load_recipe, recipe_names
    from regard.training.yaml_text import to_yaml

    if name is not None:
        data = load_recipe(name).as_dict()
        write_lines([json_line(data) if as_json else to_yaml(data).rstrip("\n")])
        return
    everything = [load_recipe(each) for each in recipe_names()]
    write_lines(_json(everything) if as_json else _table(everything))


def _json(everything: list["Configuration"]) -> list[str]:
    from regard.cli.answers import json_line

    return [
        json_line(
            {"recipe": each.recipe, "description": each.description, "parameters": parameters(each)}
        )
        for each in everything
    ]


def _table(everything: list["Configuration"]) -> list[str]:
    from regard.cli.table import table

    rows = [[each.recipe, f"{parameters(each):,}", each.description] for each in everything]
    header = ["recipe", "parameters", "description"]
    note = "Parameters are those of the vocabulary size that the recipe asks for."
    return [*table(rows, header, right=[1]), "", note]


def parameters(configuration: "Configuration") -> int:
    """How many numbers a model of this configuration has, its vocabulary as large as asked for.

    Those of a backbone, which stay as they are, are not counted.
    """
    import torch

    from regard.models import build_model

    tokenization = configuration.tokenization
    source = 0 if tokenization.source is None else tokenization.source.size
    with torch.device("meta"):  # shapes without numbers: nothing is drawn, nothing allocated
        grid = _grid(configuration)
        model = build_model(configuration.model, source, tokenization.target.size, grid=grid)
    return sum(parameter.numel() for parameter in model.parameters())


def _grid(configuration: "Configuration") -> "GridShape | None":
    """What a model that reads pictures will read."""
    from regard.data.images.shapes import expected_shape
    from regard.models import GridShape

    backbone = configuration.backbone
    shape = None if backbone is None else expected_shape(backbone)
    return None if shape is None else GridShape(*shape)
