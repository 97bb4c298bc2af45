"""Training on pairs with features: what is filled in, kept, refused, gone on with."""

import random
from pathlib import Path
from typing import Any

import pytest

import regard
from regard.data.pairs import Pair, Pairs
from regard.errors import UserError
from regard.training.configuration import Configuration
from regard.training.interruption import TrainingInterrupted
from regard.training.problems import resolve
from regard.training.run import load_run, read_configuration
from regard.training.train import train
from regard.training.validation import prepare_validation

from .outcome import assert_same
from .tiny import reversals, tiny

ENDINGS = {"N;SG": "", "N;DAT(PL)": " x", "V;PST;NOM(1,SG)": " y", "V;PST;NOM(1,PL)": " y x"}


def inflections(count: int, seed: int = 5) -> Pairs:
    """`a b c` and a tag to `a b c` and the ending that the tag asks for."""
    generator = random.Random(seed)
    pairs = []
    for _ in range(count):
        word = " ".join(generator.choice("abcde") for _ in range(generator.randint(1, 5)))
        tag = generator.choice(list(ENDINGS))
        pairs.append(Pair(word, word + ENDINGS[tag], tag))
    return Pairs(tuple(pairs), "inflections")


def configured(kind: str = "recurrent", mode: str = "joined", **training: object) -> Configuration:
    data = tiny(kind, **training).as_dict()
    data["model"]["features"] = mode
    return resolve(data, "tiny")


def run(out: Path, configuration: Configuration, **options: Any) -> Any:
    options = {"progress": False, **options}
    return train(configuration, inflections(60), inflections(12, seed=6), out, **options)


@pytest.mark.parametrize("mode", ["joined", "encoder"])
@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_a_run_keeps_its_features(tmp_path: Path, kind: str, mode: str) -> None:
    """With one vocabulary and one matrix for both sides, which features do not widen."""
    run(tmp_path / "run", configured(kind, mode, maximum_updates=3))
    configuration, sizes, _ = read_configuration(tmp_path / "run")
    assert configuration.tokenization.features is not None
    assert sizes.features == 1 + len(("N", "SG", "DAT", "(", "PL", ")", "V", "PST", "NOM", "1"))
    assert sizes.source == sizes.target + sizes.features
    loaded = load_run(tmp_path / "run")
    assert loaded.tokenizers.features is not None
    model = regard.load(tmp_path / "run")
    (answer,) = model.translate(["a b"], features=["N;DAT(PL;2)"])
    assert answer.source_tokens == ("N", "DAT", "(", "PL", "2", ")", "a", "b", "</s>")
    assert answer.unseen_features == ("2",) and answer.problem is None
    assert all(len(row) == 9 for row in answer.attention)
    assert all(0 <= source < 2 for source, _ in answer.alignment)


def test_resuming(tmp_path: Path) -> None:
    class StopOnce:
        left = 13

        def __call__(self) -> int | None:
            self.left -= 1
            return 2 if self.left < 0 else None

    run(tmp_path / "whole", configured(mode="encoder"))
    with pytest.raises(TrainingInterrupted):
        run(tmp_path / "run", configured(mode="encoder"), stop=StopOnce())
    run(tmp_path / "run", configured(mode="encoder"), resume=True)
    assert_same(tmp_path / "run", tmp_path / "whole")
    other = [Pair(pair.source, pair.target, "N;SG") for pair in inflections(60)]
    with pytest.raises(UserError, match="training pairs are not those"):
        train(
            configured(mode="encoder"),
            Pairs(tuple(other), "other"),
            inflections(12, seed=6),
            tmp_path / "run",
            progress=False,
            resume=True,
        )


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (inflections(20), reversals(5), "inflections has features and reversals has none"),
        (reversals(20), inflections(5), "inflections has features and reversals has none"),
    ],
)
def test_both_data_need_features(tmp_path: Path, one: Pairs, other: Pairs, told: str) -> None:
    with pytest.raises(UserError, match=told):
        train(configured(), one, other, tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_a_section_needs_features(tmp_path: Path) -> None:
    data = configured().as_dict()
    data["tokenization"]["features"] = {"minimum_count": 1}
    with pytest.raises(UserError, match=r"tokenization\.features is set, but reversals"):
        train(resolve(data, "tiny"), reversals(20), reversals(5), tmp_path / "run", progress=False)


def test_validation_asks_for_sources_with_their_features(tmp_path: Path) -> None:
    rows = [("a", "a x", "N;DAT(PL)"), ("a", "a", "N;SG"), ("b", "b", "N;SG"), ("a", "A", "N;SG")]
    pairs = Pairs(tuple(Pair(*row) for row in rows), "here")
    run(tmp_path / "run", configured(maximum_updates=1))
    loaded = load_run(tmp_path / "run")
    data = prepare_validation(pairs, loaded.tokenizers, loaded.configuration)
    assert data.asked.sources() == ["a", "a", "b"]
    assert data.asked.features() == ["N;DAT(PL)", "N;SG", "N;SG"]
    assert data.references == [["a x"], ["a", "A"], ["b"]]
    assert len(data.examples) == 4
    limited = loaded.configuration.training.model_copy(update={"validation_limit": 2})
    configuration = loaded.configuration.model_copy(update={"training": limited})
    half = prepare_validation(pairs, loaded.tokenizers, configuration)
    assert half.asked.sources() == ["a", "a"]
    assert half.asked.features() == ["N;DAT(PL)", "N;SG"] and len(half.examples) == 3


def test_validation_features_that_training_lacks_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    valid = Pairs((Pair("a", "b", "N;XYZ(SG)"), Pair("b", "b", "ABC")), "valid.tsv")
    train(configured(maximum_updates=1), inflections(20), valid, tmp_path / "run")
    said = capsys.readouterr().err
    assert "valid.tsv has features that training never sees" in said and "XYZ, ABC" in said
