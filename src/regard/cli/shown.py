"""Which attention `show` draws, as `--layer` and `--head` tell it, and into what."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Model
    from regard.evaluation.answer import Answer
    from regard.evaluation.attention_stack import AttentionStack
    from regard.evaluation.looking import Look
    from regard.views.attention_view import AttentionView


@dataclass(frozen=True)
class Shown:
    """What was asked for; raises UserError where the model has no such layer or head.

    search: beam and length penalty.
    """

    model: "Model"
    out: Path
    layer: int | None
    head: int | None
    search: dict[str, Any]

    def __post_init__(self) -> None:
        from regard.evaluation.attention_choice import AttentionChoice, check_choice

        check_choice(self.model.network, AttentionChoice(self.layer, self.head))

    @property
    def is_page(self) -> bool:
        """Whether it has room for everything."""
        return self.out.suffix.lower() == ".html"

    def chosen(self, view: "AttentionView", look: "Callable[[], Look]") -> "AttentionView":
        """The view with the attention that was asked for: on a page with all else too."""
        if self.is_page:
            view = replace(view, **_parts(look()))
            return view if self.layer is None else replace(view, opens_at=(self.layer, self.head))
        if self.layer is None:
            return view
        (cross,) = [stack for stack in look().stacks if stack.kind == "cross"]
        return replace(view, attention=_weights(cross, self.layer, self.head))


def check_attention(answer: "Answer", model: "Model") -> None:
    """Raises UserError for an answer of a model without attention."""
    if not getattr(answer, "attention", ()):
        recipe = model.configuration.recipe
        raise UserError(f"a model of the recipe {recipe} has no attention to draw")


def _parts(look: "Look") -> dict[str, Any]:
    """What a view has of a look, which only a page has room for."""
    return {each.name: getattr(look, each.name) for each in fields(look)}


def _weights(stack: "AttentionStack", layer: int, head: int | None) -> Any:
    """`[rows, columns]` of a layer: of one head, or the mean over its heads."""
    if head is not None and stack.mean:
        raise UserError("this is too long to keep single heads of: leave out --head")
    weights = stack.weights[layer - 1]
    return weights.mean(0) if head is None else weights[head - 1]
