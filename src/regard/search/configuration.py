"""How text is searched for: the `search` section of a configuration."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class SearchConfiguration(BaseModel):
    """Beam width, length penalty and length limits.

    beam: hypotheses kept per sentence at each step; 1 is greedy search.
    length_penalty: hypotheses are ranked by `score / length**length_penalty`, where length counts
        the end symbol. 0 ranks by the score alone, 1 by the mean per token; larger favors longer
        output, negative shorter.
    maximum_length_ratio, maximum_length_extra: a hypothesis has at most
        `int(ratio * source length) + extra` tokens, the end symbol included (never less than 1).
    minimum_length: fewest tokens before the end symbol.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    beam: Annotated[int, Field(ge=1)] = 5
    length_penalty: Annotated[float, Field(ge=-10, le=10)] = 1.0
    maximum_length_ratio: Annotated[float, Field(ge=0, le=1000)] = 2.0
    maximum_length_extra: Annotated[int, Field(ge=0)] = 20
    minimum_length: Annotated[int, Field(ge=0)] = 0
