"""Scenes for the tests: some that were drawn, some that were put together by hand."""

from functools import cache

from regard.data.scenes import Relation, Scene, Thing, generate_scenes


@cache
def drawn(count: int = 3000, seed: int = 7) -> tuple[Scene, ...]:
    return tuple(generate_scenes(count, seed))


def thing(look: str, count: int = 1) -> Thing:
    """A thing from words such as "small blue star" or, for a frame, "red circle"."""
    *size, color, shape = look.split()
    centers = tuple((40 + 10 * index, 40) for index in range(count))
    return Thing(shape, color, size[0] if size else None, centers)


def scene(name: str, *looks: str, count: int = 1, third: int = 1, then: str = "") -> Scene:
    """Things in one relation; `then` is the second one, of the anchor to the third thing."""
    counts = (count, 1, third)
    things = tuple(thing(look, number) for look, number in zip(looks, counts, strict=False))
    anchors = tuple(range(1, len(things)))
    if then:
        return Scene(things, (Relation(name, 0, (1,)), Relation(then, 1, (2,))))
    return Scene(things, (Relation(name, 0, anchors),))


def singular(noun: str) -> str:
    """An English noun without the ending of its plural."""
    return {"crosses": "cross", "cross": "cross"}.get(noun, noun.removesuffix("s"))
