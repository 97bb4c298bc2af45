"""Features on the command line: rows that hold them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from regard.cli.lines import InputLine
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Model


def rows(
    lines: Iterable[InputLine], source: str | None, features: str, origin: str
) -> Iterator[InputLine]:
    """Lines as rows of a TSV, each with its source and its features in place of the whole.

    source, features: columns from 1; the source's is 1 by default. A row that has too few columns
    is named in its `problem` and stops no other.
    Raises UserError, before the first line is read, for columns that are not numbers or the same.
    """
    from regard.data.readers.tsv import check_columns_differ, column_number, split_row

    columns = {
        "source": column_number("source", source, 1, origin),
        "features": column_number("features", features, None, origin),
    }
    check_columns_differ(columns, {"source": source, "features": features})

    def read() -> Iterator[InputLine]:
        for line in lines:
            try:
                cells = split_row(line.text, columns, f"{origin}, line {line.number + 1}")
            except UserError as error:
                yield replace(line, text="", features="", problem=str(error))
            else:
                yield replace(line, text=cells["source"], features=cells["features"])

    return read()


def check_features(model: "Model", given: bool) -> None:
    """Raises UserError where the model needs features and none are given, or the other way."""
    model.tokenizers.check_tags([] if given else None)
