"""The parts of the training-speed benchmark that can be wrong without any peer being installed."""

import json
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

import peers.eole
import peers.joeynmt
import peers.opennmt
import regard_training
import report
import training_speed
from corpus import prepare
from machine import Machine, processor_rate
from measurement import Figures, MeasurementError, moments
from regard.data.configuration import TokenizationConfiguration, TokenizerConfiguration
from regard.data.pairs import read_pairs
from regard.data.tokenizers import train_tokenizers
from regard.training.recipes import load_recipe
from workload import Workload

_ENGLISH = ["a dog runs", "two cats sleep", "a man reads a book", "the sun is hot"]
_GERMAN = ["ein Hund rennt", "zwei Katzen schlafen", "ein Mann liest ein Buch", "die Sonne brennt"]


def _figures(speed: float, **more: float) -> Figures:
    values = {"steps": 3, "seconds": 9.0, "cpu_share": None, "padding": None, "memory": None}
    return Figures(tokens_per_second=speed, **{**values, **more})


def test_ratios_pair_figures_of_the_same_round() -> None:
    measured = {
        "regard": [_figures(400.0), _figures(800.0), _figures(500.0)],
        "joeynmt": [_figures(100.0, memory=5), _figures(100.0, memory=9), _figures(250.0)],
    }
    made = report.rows(measured, {"regard": {"version": "1"}, "joeynmt": {"version": "2"}})
    assert [row.tool for row in made] == ["regard", "joeynmt"]
    assert made[0].ratios == (1.0, 1.0, 1.0)
    assert made[1].ratios == (4.0, 8.0, 2.0)
    assert made[1].ratio == 4.0  # the median of ratios; of the medians it would be 5
    assert made[1].tokens_per_second == 100.0
    assert made[1].memory == 9


def test_table_is_aligned_and_says_what_is_missing() -> None:
    measured = {"opennmt": [_figures(2165.4, cpu_share=2.0, padding=0.031, memory=1_490_000_000)]}
    lines = report.table(report.rows(measured, {"opennmt": {"version": "3.5.1"}})).split("\n")
    assert len(lines) == 3
    assert len({len(line) for line in lines}) == 1
    assert [cell.strip() for cell in lines[2].strip("|").split("|")] == [
        *("opennmt", "3.5.1", "?", "2,165", "2,165", "1,083", "3.1%", "1.49 GB", "-", "-", "-")
    ]


def test_json_holds_every_round() -> None:
    measured = {"regard": [_figures(4.0), _figures(6.0)], "joeynmt": [_figures(1.0), _figures(2.0)]}
    made = report.rows(measured, {"regard": {}, "joeynmt": {}})
    here = Machine("processor", 2, "Linux", "3.11", "2.13")
    rates = [report.Rate(1e9, 5e8)]
    whole = json.loads(json.dumps(report.as_json(made, measured, here, rates, {"threads": 2})))
    assert [run["tokens_per_second"] for run in whole["rounds"]["joeynmt"]] == [1.0, 2.0]
    assert whole["tools"][1]["ratio"] == 3.5
    assert whole["settings"] == {"threads": 2}
    assert whole["matrix_products_flops"] == [{"per_second": 1e9, "per_cpu_second": 5e8}]


def test_ratios_and_share_by_seconds_of_the_processor() -> None:
    measured = {
        "regard": [_figures(400.0, cpu_share=0.5), _figures(900.0, cpu_share=0.9)],
        "eole": [_figures(100.0, cpu_share=0.2), _figures(250.0, cpu_share=0.5)],
    }
    versions = {"regard": {"parameters": "1000"}, "eole": {}}
    rates = [report.Rate(9e9, 10e6), report.Rate(8e9, 20e6)]
    made = report.rows(measured, versions, rates)
    assert made[1].ratios == (4.0, 3.6)
    assert made[1].cpu_ratios == pytest.approx((1.6, 2.0))
    assert made[0].share == pytest.approx(6 * 1000 * 900 / 15e6)
    assert made[1].share is None
    settings = {"pairs": 1, "target_tokens": 2, "threads": 1, "warm_up_seconds": 3.0}
    settings |= {"window_seconds": 4.0, "environment": []}
    here = Machine("processor", 2, "Linux", "3.11", "2.13")
    said = report.footer(made, here, rates, settings)
    assert "regard reaches 36%" in said and "eole reaches" not in said
    assert report.table(made).split("\n")[3].split("|")[-2].strip() == "1.80x"


def test_without_processor_time_there_are_no_such_ratios() -> None:
    measured = {"regard": [_figures(400.0)], "eole": [_figures(100.0)]}
    made = report.rows(measured, {"regard": {"parameters": "9"}, "eole": {}}, [report.Rate(1, 1)])
    assert made[1].ratios == (4.0,) and made[1].cpu_ratios == () and made[0].share is None


def test_the_rate_of_the_processor_is_that_of_one_thread() -> None:
    rate = processor_rate()
    assert 1e8 < rate < 1e13


def _corpus(tmp_path: Path):
    prefix = tmp_path / "pairs"
    for suffix, texts in (("en", [*_ENGLISH, " "]), ("de", [*_GERMAN, "  übrig "])):
        Path(f"{prefix}.{suffix}").write_text("\n".join([*texts, ""]), encoding="utf-8")
    return prepare(str(prefix), str(prefix), "en", "de", Workload(vocabulary=60), tmp_path / "out")


def test_every_tool_gets_the_same_text_and_vocabulary(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path)
    assert Path(f"{corpus.train}.de").read_text(encoding="utf-8").split("\n") == [*_GERMAN, ""]
    assert corpus.pairs == len(_GERMAN)
    pieces = corpus.vocabulary.read_text(encoding="utf-8").split("\n")[:-1]
    assert len(pieces) == len(set(pieces)) <= 56
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_file=str(corpus.subwords))
    encoded = [processor.encode(text, out_type=str) for text in _GERMAN]
    assert {piece for tokens in encoded for piece in tokens} <= set(pieces)
    assert corpus.target_tokens == sum(len(tokens) + 1 for tokens in encoded)


def test_every_tool_is_asked_for_the_same_model(tmp_path: Path) -> None:
    corpus, workload = _corpus(tmp_path), Workload()
    joey = peers.joeynmt.configuration(corpus, workload, tmp_path)
    for stack in (joey["model"]["encoder"], joey["model"]["decoder"]):
        sizes = [stack[key] for key in ("num_layers", "hidden_size", "ff_size", "num_heads")]
        assert sizes == [4, 128, 256, 4]
    assert joey["training"]["batch_size"] == 4096
    assert joey["training"]["batch_type"] == "token"
    nmt = peers.opennmt.configuration(corpus, workload, tmp_path)
    keys = ("layers", "hidden_size", "transformer_ff", "heads", "batch_size", "batch_type")
    assert [nmt[key] for key in keys] == [4, 128, 256, 4, 4096, "tokens"]
    eole = peers.eole.configuration(corpus, workload, tmp_path)
    model, training = eole["model"], eole["training"]
    sizes = [model[key] for key in ("layers", "hidden_size", "transformer_ff", "heads")]
    assert sizes == [4, 128, 256, 4] and model["embeddings"]["word_vec_size"] == 128
    assert (training["batch_size"], training["batch_type"]) == (4096, "tokens")
    assert (training["dropout"], training["attention_dropout"]) == ([0.1], [0.0])


def test_regard_trains_its_recipe_on_the_users_data(tmp_path: Path) -> None:
    data = ("in/train", "in/val", "en", "de")
    command, record = regard_training.command(data, Workload(), tmp_path, threads=2)
    assert command[2:5] == [str(record), "train", "transformer-tiny"]
    assert command[command.index("--train") + 1] == "in/train"
    assert command[command.index("--threads") + 1] == "2"
    assert "training.matrix_products=float32" in command
    command, _ = regard_training.command(data, Workload(), tmp_path, 2, "bfloat16")
    assert "training.matrix_products=bfloat16" in command


def test_regard_is_counted_as_it_counts_itself(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path)
    data = (str(tmp_path / "pairs"), str(tmp_path / "pairs"), "en", "de")
    workload = Workload(vocabulary=60, batch_tokens=30)
    command, record = regard_training.command(data, workload, tmp_path, threads=1)
    small = ["model.embedding.size=8", "training.maximum_updates=50", "training.average.kind=none"]
    for stack in ("encoder", "decoder"):
        small += [f"model.{stack}.{key}" for key in ("layers=1", "heads=1", "feed_forward_size=8")]
    for setting in small:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    regard_training.check(tmp_path, corpus)
    found, versions = moments(record.read_text(encoding="utf-8").split("\n")[:-1])
    assert len(found) == 50
    assert found[-1].target_tokens > 50 * 7
    assert found[-1].target_tokens < found[-1].real_positions <= found[-1].positions
    assert set(versions) == {"version", "torch", "parameters"}
    metrics = tmp_path / "run" / "metrics.jsonl"
    told = metrics.read_text(encoding="utf-8")
    assert '"kind": "training", "step": 50' in told
    total = f'"target_tokens": {found[-1].target_tokens}'
    metrics.write_text(told.replace(total, '"target_tokens": 1'), encoding="utf-8")
    with pytest.raises(MeasurementError, match="1 target tokens after 50 steps"):
        regard_training.check(tmp_path, corpus)


def test_regards_recipe_is_the_model_that_the_peers_are_asked_for(tmp_path: Path) -> None:
    workload = Workload()
    command, _ = regard_training.command(("a", "b", "en", "de"), workload, tmp_path, threads=2)
    overrides = [value for flag, value in pairwise(command) if flag == "--set"]
    configuration = load_recipe("transformer-tiny", overrides)
    model, training = configuration.model, configuration.training
    assert model.embedding.size == workload.width
    assert model.embedding.share and model.embedding.tie_output
    for stack in (model.encoder, model.decoder):
        assert stack.kind == "transformer"
        sizes = (stack.layers, stack.feed_forward_size, stack.heads)
        assert sizes == (workload.layers, workload.feed_forward, workload.heads)
        dropout = (stack.dropout, stack.attention_dropout)
        assert dropout == (workload.dropout, workload.attention_dropout)
    assert training.label_smoothing == workload.label_smoothing
    assert training.optimizer == "adam"
    assert configuration.batching.tokens == workload.batch_tokens
    side = TokenizerConfiguration(size=workload.vocabulary)
    assert configuration.tokenization == TokenizationConfiguration(source=side, target=side)


def test_another_vocabulary_than_the_peers_is_refused(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path)
    side = TokenizerConfiguration(size=60)
    same = TokenizationConfiguration(source=side, target=side)
    pairs = read_pairs(str(tmp_path / "pairs"), "en", "de")
    train_tokenizers(same, pairs, 7).save(tmp_path / "same" / "tokenizer")
    regard_training.check_vocabulary(tmp_path / "same", corpus)
    side = TokenizerConfiguration(size=60, algorithm="bpe")
    other = TokenizationConfiguration(source=side, target=side)
    train_tokenizers(other, pairs, 7).save(tmp_path / "other" / "tokenizer")
    with pytest.raises(MeasurementError, match="not the one that its peers were given"):
        regard_training.check_vocabulary(tmp_path / "other", corpus)


def test_bad_options_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    required = ["--data", "nowhere", "--valid", "nowhere", "--source", "en", "--target", "de"]
    assert training_speed.main([*required, "--tools", "regard,marian"]) == 2
    assert (
        "marian is not one of regard, joeynmt, opennmt, eole, regard-bfloat16"
        in capsys.readouterr().err
    )
    assert training_speed.main([*required, "--tools", "regard"]) == 2
    assert "nowhere" in capsys.readouterr().err
