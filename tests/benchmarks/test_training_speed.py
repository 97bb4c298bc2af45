"""The parts of the training-speed benchmark that can be wrong without any peer being installed."""

import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from counting import CountedBatches, Sizes

import peers.joeynmt
import peers.opennmt
import regard_training
import report
import training_speed
from corpus import prepare
from machine import Machine
from measurement import (
    Figures,
    MeasurementError,
    Moment,
    Watched,
    check_clock,
    figures,
    measure,
    moments,
    window,
)
from regard.data.configuration import TokenizationConfiguration, TokenizerConfiguration
from regard.data.pairs import read_pairs
from regard.data.tokenizers import train_tokenizers
from regard.training.recipes import load_recipe
from workload import Workload

_ENGLISH = ["a dog runs", "two cats sleep", "a man reads a book", "the sun is hot"]
_GERMAN = ["ein Hund rennt", "zwei Katzen schlafen", "ein Mann liest ein Buch", "die Sonne brennt"]


def _line(seconds: float, step: int, tokens: int, **more: int) -> str:
    entry = {"kind": "training", "seconds": seconds, "step": step, "target_tokens": tokens}
    return json.dumps({**entry, **more})


def _figures(speed: float, **more: float) -> Figures:
    values = {"steps": 3, "seconds": 9.0, "cpu_share": None, "padding": None, "memory": None}
    return Figures(tokens_per_second=speed, **{**values, **more})


def test_record_lines_of_other_kinds_pass() -> None:
    lines = [
        '{"kind": "versions", "version": "2.3.0", "torch": "2.13.0"}',
        _line(1.5, 1, 100, real_positions=150, positions=200),
        '{"kind": "validation", "bleu": 3.0}',
        _line(3.0, 2, 250),
    ]
    found, versions = moments(lines)
    assert found == [Moment(1.5, 1, 100, 150, 200), Moment(3.0, 2, 250)]
    assert versions == {"version": "2.3.0", "torch": "2.13.0"}


def test_window_holds_whole_steps_only() -> None:
    found = [Moment(float(second), second, 10 * second) for second in range(1, 40, 3)]
    first, last = window(found, warm_up=5.0, seconds=10.0)
    assert (first.seconds, last.seconds) == (7.0, 16.0)


def test_window_with_one_step_is_refused() -> None:
    with pytest.raises(MeasurementError, match="longer --window"):
        window([Moment(1.0, 1, 10), Moment(30.0, 2, 20)], warm_up=5.0, seconds=10.0)
    with pytest.raises(MeasurementError, match="0 steps"):
        window([Moment(1.0, 1, 10)], warm_up=5.0, seconds=10.0)


def test_figures_are_differences() -> None:
    first, last = Moment(10.0, 4, 1000, 1500, 2000), Moment(20.0, 9, 6000, 9000, 12000)
    watched = Watched(clock=[100.0, 104.0, 108.0], cpu=[50.0, 57.0, 64.0], memory=7)
    got = figures(first, last, watched)
    assert got.tokens_per_second == 500
    assert (got.steps, got.seconds) == (5, 10)
    assert got.padding == pytest.approx(0.25)
    assert got.cpu_share == pytest.approx(1.75)
    assert got.tokens_per_cpu_second == pytest.approx(500 / 1.75)
    assert got.memory == 7


def test_a_clock_that_leaves_time_out_is_refused() -> None:
    first, last = Moment(10.0, 4, 1000), Moment(50.0, 9, 6000)
    check_clock(first, last, Watched(steps={4: 500.0, 9: 540.5}))
    with pytest.raises(MeasurementError, match=r"says 40\.0 s where 50\.0 s passed"):
        check_clock(first, last, Watched(steps={4: 500.0, 9: 550.0}))


def test_figures_leave_out_what_nobody_told() -> None:
    got = figures(Moment(0.0, 0, 0), Moment(2.0, 1, 10), Watched())
    assert (got.padding, got.cpu_share, got.tokens_per_cpu_second, got.memory) == (None,) * 4


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
        *("opennmt", "3.5.1", "?", "2,165", "2,165", "1,083", "3.1%", "1.49 GB", "-", "-")
    ]


def test_json_holds_every_round() -> None:
    measured = {"regard": [_figures(4.0), _figures(6.0)], "joeynmt": [_figures(1.0), _figures(2.0)]}
    made = report.rows(measured, {"regard": {}, "joeynmt": {}})
    here = Machine("processor", 2, "Linux", "3.11", "2.13")
    whole = json.loads(json.dumps(report.as_json(made, measured, here, [1e9], {"threads": 2})))
    assert [run["tokens_per_second"] for run in whole["rounds"]["joeynmt"]] == [1.0, 2.0]
    assert whole["tools"][1]["ratio"] == 3.5
    assert whole["settings"] == {"threads": 2}


def test_batches_count_once_they_are_trained(tmp_path: Path) -> None:
    class Loader(list):
        batch_sampler = "the tool's own"

    record = tmp_path / "record.jsonl"
    counted = CountedBatches(Loader([3, 5]), lambda size: Sizes(size, 2 * size, 4 * size), record)
    assert counted.batch_sampler == "the tool's own"
    loop = iter(counted)
    next(loop)
    assert record.read_text(encoding="utf-8") == ""  # handed out, not yet trained
    next(loop)
    found, _ = moments(record.read_text(encoding="utf-8").split("\n")[:-1])
    assert [(m.step, m.target_tokens) for m in found] == [(1, 3)]
    assert list(loop) == []
    assert list(counted) == [3, 5]  # a second epoch counts on, by the same clock
    found, _ = moments(record.read_text(encoding="utf-8").split("\n")[:-1])
    totals = [(m.step, m.target_tokens, m.real_positions, m.positions) for m in found]
    assert totals == [(1, 3, 6, 12), (2, 8, 16, 32), (3, 11, 22, 44), (4, 16, 32, 64)]
    assert [m.seconds for m in found] == sorted(m.seconds for m in found)


_TRAINER = """
import json, sys, time
began = time.perf_counter()
with open(sys.argv[1], "a") as stream:
    stream.write('{"kind": "versions", "version": "9"}\\n')
    for step in range(1, 10_000):
        time.sleep(0.02)
        line = {"kind": "training", "seconds": time.perf_counter() - began, "step": step}
        stream.write(json.dumps({**line, "target_tokens": 100 * step}) + "\\n")
        stream.flush()
"""


def _measure(tmp_path: Path, program: str) -> tuple[Figures, dict[str, str]]:
    record = tmp_path / "record.jsonl"
    command = [sys.executable, "-c", program, str(record)]
    return measure(command, record, tmp_path / "log.txt", os.environ, warm_up=0.3, seconds=0.8)


def test_a_tool_is_measured_and_ended(tmp_path: Path) -> None:
    got, versions = _measure(tmp_path, _TRAINER)
    assert versions == {"version": "9"}
    assert got.tokens_per_second == pytest.approx(100 * got.steps / got.seconds)
    assert 0 < got.seconds <= 0.8
    size = (tmp_path / "record.jsonl").stat().st_size
    time.sleep(0.2)
    assert (tmp_path / "record.jsonl").stat().st_size == size  # nobody writes any more


def test_a_tool_that_dies_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"exit 1\).*ValueError: no such data"):
        _measure(tmp_path, "raise ValueError('no such data')")


def test_an_interrupted_measurement_ends_its_tool(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    benchmark = f"""
import sys, os, signal, training_speed, measurement
from pathlib import Path
signal.signal(signal.SIGTERM, training_speed._leave)
command = [sys.executable, "-c", {_TRAINER!r}, {str(record)!r}]
measurement.measure(command, Path({str(record)!r}), Path(os.devnull), os.environ, 0.1, 600.0)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", benchmark], env=environment)
    deadline = time.monotonic() + 60
    while not record.is_file() or record.stat().st_size < 500:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.terminate()
    assert process.wait(60) == 143
    size = record.stat().st_size
    time.sleep(0.3)
    assert record.stat().st_size == size


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


def test_regard_trains_its_recipe_on_the_users_data(tmp_path: Path) -> None:
    data = ("in/train", "in/val", "en", "de")
    command, record = regard_training.command(data, Workload(), tmp_path, threads=2)
    assert command[1:3] == ["train", "transformer-tiny"]
    assert command[command.index("--train") + 1] == "in/train"
    assert command[command.index("--threads") + 1] == "2"
    assert record == tmp_path / "run" / "metrics.jsonl"


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
    assert "marian is not one of regard, joeynmt, opennmt" in capsys.readouterr().err
    assert training_speed.main([*required, "--tools", "regard"]) == 2
    assert "nowhere" in capsys.readouterr().err
