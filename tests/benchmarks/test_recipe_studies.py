"""Tables over recipes, teacher forcing, regularisation: settings, and the commands in seconds."""

import json
import random
from pathlib import Path

import pytest

import recipes_table
import regularisation
import teacher_forcing
from recipes_table import TASKS, settings_for
from regard.data.pairs import Pair, Pairs
from regard.training.mixing import gold_share
from regard.training.recipes import load_recipe, recipe_names
from teacher_forcing import LAST, ways

TINY = ["--set", "batching.tokens=300", "--set", "training.validation_limit=5"]


@pytest.fixture(scope="module")
def spellings(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Options that name training, validation and test data: letters, and the same in capitals."""
    generator, given = random.Random(1), []
    folder = tmp_path_factory.mktemp("spellings")
    for name in ("train", "valid", "test"):
        words = ["".join(generator.choices("abcdef", k=4)) for _ in range(30)]
        lines = [f"{word}\t{' '.join(word.upper())}\n" for word in words]
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
        given += [f"--{name}", str(folder / f"{name}.tsv")]
    return given


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("recipe", recipe_names(pictures=False))
def test_every_recipe_can_be_given_every_task(recipe: str, task: str) -> None:
    """Made for such symbols, or told to read them; the clock ends all of them."""
    configuration = load_recipe(recipe, settings_for(recipe, TASKS[task]))
    tokenization = configuration.tokenization
    assert (tokenization.source.kind, tokenization.target.kind) == TASKS[task].kinds
    assert configuration.training.metric == TASKS[task].metrics[0]
    assert configuration.training.maximum_updates == 0
    assert configuration.training.cooldown > 0
    assert configuration.search.beam == 5


@pytest.mark.parametrize("updates", [1, 50, 2000, 100_000])
def test_falling_shares_end_where_all_of_them_do(updates: int) -> None:
    for name, teaching in ways(updates).items():
        setting = f"training.teacher_forcing={teaching}"
        forcing = load_recipe("rnnsearch", [setting]).training.teacher_forcing
        if name in ("linear", "exponential", "inverse sigmoid"):
            assert gold_share(forcing, updates) == pytest.approx(LAST, abs=1e-4), name
            assert gold_share(forcing, updates // 2) > LAST
        else:
            assert gold_share(forcing, 0) == gold_share(forcing, updates) == float(name)


def test_the_table_of_recipes(
    spellings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["words", *spellings, *TINY, "--recipes", "rnnsearch", "--out", str(tmp_path)]
    sizes = ["--parameters", "9000", "--minutes", "0.02"]
    assert recipes_table.main([*arguments, *sizes]) == 0
    assert "| rnnsearch |" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "words.json").read_text(encoding="utf-8"))["rows"]
    assert row["parameters"] == pytest.approx(9000, rel=0.1)
    figures = row["figures"]["test"]["metrics"]
    assert set(figures) == {"word_error_rate", "symbol_error_rate"}
    assert all(figure["interval"]["level"] == 0.95 for figure in figures.values())


def test_the_table_of_teacher_forcing(
    spellings: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("teacher_forcing.FIXED", (0.7,))
    small = ["--recipe", "rnnsearch", "--set", "training.average.kind=none", "--updates", "2"]
    for narrow in ("embedding.size", "encoder.size", "decoder.size", "decoder.readout_size"):
        small += ["--set", f"model.{narrow}=8"]
    small += ["--set", TASKS["words"].tokenization[0], "--set", "model.embedding.share=false"]
    assert teacher_forcing.main([*spellings, *small, *TINY, "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.split("\n| ")[2:]
    names = [line.partition("|")[0].strip() for line in lines]
    assert names == ["0.7", "linear", "exponential", "inverse sigmoid"]
    assert teacher_forcing.main(["--train", "no.tsv", "--valid", "no.tsv", "--test", "no.tsv"]) == 2


SMALL = [
    "--set=model.embedding={size: 8, share: true, tie_output: true}",
    "--set=model.encoder={kind: transformer, layers: 1, heads: 2, feed_forward_size: 8}",
    "--set=model.decoder={kind: transformer, layers: 1, heads: 2, feed_forward_size: 8}",
    *(f"--set=tokenization.{side}.size=40" for side in ("source", "target")),
]


def test_every_way_changes_something(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing but what it says: the training is the same up to its own settings."""
    assert regularisation.ways("transformer-tiny") == list(regularisation.WAYS)
    assert capsys.readouterr().err == ""
    configurations = {
        name: load_recipe("transformer-tiny", changes)
        for name, changes in regularisation.WAYS.items()
    }
    assert configurations[regularisation.PLAIN] == load_recipe("transformer-tiny")
    assert len({str(each) for each in configurations.values()}) == len(regularisation.WAYS)


def test_ways_that_a_recipe_cannot_be_given_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    possible = regularisation.ways("pointer")
    told = capsys.readouterr().err
    for name in set(regularisation.WAYS) - set(possible):
        assert f"{name} is left out: " in told
    assert {"bpe", "bpe-dropout", "unigram sampling", "r-drop 5"}.isdisjoint(possible)
    assert {"word dropout, both", "average exponential"} <= set(possible)


def test_fewer_pairs_are_spread_evenly() -> None:
    pairs = Pairs(tuple(Pair(str(n), str(n)) for n in range(10)), "numbers")
    assert [pair.source for pair in regularisation.fewer(pairs, 4)] == ["0", "2", "5", "7"]
    assert len(regularisation.fewer(pairs, 0)) == len(regularisation.fewer(pairs, 99)) == 10


def test_the_table_of_regularisation(
    spellings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["as it is", "bpe-dropout", "together"]
    arguments = [*spellings, *SMALL, *TINY, "--updates", "2", "--pairs", "20", "--ways", *chosen]
    assert regularisation.main([*arguments, "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.split("\n| ")[2:]
    assert [line.partition("|")[0].strip() for line in lines] == chosen
    report = json.loads((tmp_path / "regularisation.json").read_text(encoding="utf-8"))
    assert [row["pairs"] for row in report["rows"]] == [20, 20, 20]
    assert all(row["updates"] == 2 for row in report["rows"])


def test_a_rate_that_is_a_factor_of_the_width_stays() -> None:
    for name, task in TASKS.items():
        configuration = load_recipe("transformer-base", settings_for("transformer-base", task))
        assert configuration.training.schedule == "noam", name
        assert configuration.training.learning_rate == 1.0, name
