"""Symbols never seen: some lines are named, the others counted."""

from dataclasses import dataclass

import pytest

from regard.cli.unseen import NAMED, UnseenSymbols


@dataclass(frozen=True)
class Answer:
    unseen: tuple = ()
    unseen_target: tuple = ()
    unseen_features: tuple = ()


@pytest.fixture
def said(capfdbinary):
    """The lines on standard error."""
    return lambda: capfdbinary.readouterr().err.decode().split("\n")[:-1]


def told(*answers):
    unseen = UnseenSymbols()
    for number, answer in enumerate(answers, start=1):
        unseen.tell(answer, f"line {number}")
    unseen.close()


def test_nothing_is_said_of_what_was_seen(said):
    told(Answer(), Answer())
    assert said() == []


def test_lines_are_named(said):
    told(Answer(), Answer(("☃", "\u200e")), Answer((), ("ż",)))
    assert said() == [
        "regard: line 2: never seen in training, so read as unknown: ☃, U+200E",
        "regard: line 3: in no training target, so scored as unknown: ż",
    ]


def test_many_lines_are_counted(said):
    told(*[Answer(("☃",))] * (NAMED + 1))
    lines = said()
    assert len(lines) == NAMED + 1
    assert lines[-1] == "regard: 1 more line has symbols never seen in training"
    told(*[Answer(("☃",)), Answer()] * (NAMED + 1200))
    assert said()[-1] == "regard: 1,200 more lines have symbols never seen in training"


def test_features_are_named_once(said):
    told(Answer((), (), ("DU", "PST")), Answer((), (), ("DU",)), Answer((), (), ("3",)))
    assert [line.rpartition(" the features ")[2] for line in said()] == ["DU, PST", "3"]
