"""The attention benchmark at tiny sizes, without Keras: every row is there and means something."""

import importlib.util
import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

import attention_memory
import attention_report as report
import attention_timing
from attention_cases import Sizes, cases
from attention_timing import (
    Case,
    Contestant,
    Measured,
    clock,
    kept_for_backward,
    measure,
    measure_all,
)

TINY = Sizes(batch=2, queries=3, positions=5, size=8, heads=2, step=(2, 7), large=(2, 40, 50))


@pytest.fixture(scope="module")
def found() -> list[tuple[Case, list[Measured]]]:
    torch.manual_seed(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention_timing, "LEAST", 0.0)
        return measure_all(cases(TINY, None), 1, clock(1))


def test_every_row_is_there(found: list[tuple[Case, list[Measured]]]) -> None:
    lines = report.as_table(found, TINY, {"regard": 3_000_000, "plain": None}).split("\n")
    assert len({len(line) for line in lines}) == 1
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == list(report.HEAD)
    assert [row[0] for row in cells[2:]] == [
        "additive scores, 2 x 3 x 5, size 8",
        "- regard",
        "- plain PyTorch",
        "additive attention, 2 x 3 x 5, size 8",
        "- regard",
        "- plain PyTorch",
        "- Keras AdditiveAttention",
        "multi-head self-attention, 2 x 5 x 5, size 8, 2 heads",
        "- regard",
        "- scaled_dot_product_attention",
        "- Keras MultiHeadAttention",
        "the same with weights, 2 x 5 x 5, size 8, 2 heads",
        "- regard",
        "- torch MultiheadAttention",
        "- Keras MultiHeadAttention",
        "a decoding step, additive, 2 x 1 x 7, size 8",
        "- regard, prepared memory",
        "- regard, projecting anew",
        "- the preparation alone",
        "a decoding step, scaled_dot, 2 x 1 x 7, size 8",
        "- regard, prepared memory",
        "- regard, projecting anew",
        "- the preparation alone",
        "peak of a training step, 2 x 40 x 50, size 8",
        "- regard",
        "- plain PyTorch",
    ]
    assert cells[-2][5] == "3 MB" and cells[-1][5] == "-"
    assert cells[8][1:] == ["-", "", "-", "", "-", "", ""]  # Keras, which is not there
    assert cells[4][2].endswith("x") and cells[4][4].endswith("x") and cells[4][6].startswith("1/")


def test_all_compute_the_same(found: list[tuple[Case, list[Measured]]]) -> None:
    differences = [
        one.difference for _, made in found for one in made if one.difference is not None
    ]
    assert len(differences) == 6
    assert max(differences) < 1e-5


def test_the_step_over_a_prepared_memory_projects_no_key() -> None:
    for case in cases(TINY, None)[-2:]:
        prepared, anew, alone = case.contestants
        rows = []

        def count(module: torch.nn.Module, inputs: tuple[Tensor], _: Tensor, rows=rows) -> None:
            rows.append(inputs[0].shape[1])

        with torch.nn.modules.module.register_module_forward_hook(
            lambda *call: count(*call) if isinstance(call[0], torch.nn.Linear) else None
        ):
            prepared.run()
            assert rows and max(rows) == 1
            anew.run()
            assert rows.count(7) >= 1
        assert not alone.compared


def test_kept_counts_each_storage_once() -> None:
    x = torch.ones(10, requires_grad=True)
    assert kept_for_backward(lambda: x * x) == 40
    assert kept_for_backward(lambda: (x * x[:5].repeat(2)).exp()) == 120
    assert kept_for_backward(lambda: x + 1) == 0


def test_the_kernel_keeps_little(found: list[tuple[Case, list[Measured]]]) -> None:
    """Two inputs and the exponentials of the keys, and never a number for every pair and size."""
    regard, plain = found[0][1]
    assert regard.kept == 4 * (2 * 3 * 8 + 2 * 2 * 5 * 8 + 8)
    assert plain.kept == 4 * (2 * 3 * 5 * 8 + 8)


def test_the_best_of_all_rounds_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_timing, "LEAST", 0.0)
    x = torch.ones(1, requires_grad=True)
    times = iter([0.0, 5.0, 0.0, 9.0, 1.0, 4.0, 0.0, 11.0])
    slow = Contestant("slow", lambda: x * 2, (x,))
    (made,) = measure(Case("one", (slow,)), 2, lambda: next(times))
    assert (made.forward, made.training) == (3.0, 9.0)


def test_memory_is_measured_in_a_process_of_its_own() -> None:
    peak = attention_memory.measure("plain", 2, 200, 300, 64)
    if peak is not None:
        assert 2 * 4 * 2 * 200 * 300 * 64 < peak < 10 * 4 * 2 * 200 * 300 * 64


def test_json_holds_everything(found: list[tuple[Case, list[Measured]]]) -> None:
    settings = {"threads": 1, "rounds": 1, "keras": "3"}
    whole = report.as_json(found, TINY, {"regard": 1, "plain": None}, settings, [1e9])
    whole = json.loads(json.dumps(whole))
    assert whole["sizes"]["step"] == [2, 7]
    assert [len(case["contestants"]) for case in whole["cases"]] == [2, 3, 3, 3, 3, 3]
    assert "1 thread" not in report.footer(settings, [1e9])
    assert "processor time of one thread, best of 1 rounds" in report.footer(settings, [1e9])


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Path(report.__file__).with_name("attention.py")
    loader = importlib.util.spec_from_file_location("attention_benchmark", script)
    command = importlib.util.module_from_spec(loader)
    loader.loader.exec_module(command)
    monkeypatch.setattr(attention_timing, "LEAST", 0.0)
    monkeypatch.setattr(command.machine, "matrix_rate", lambda threads: 2e9)
    monkeypatch.setattr(command, "Sizes", lambda: TINY)
    monkeypatch.setattr(command, "measure_memory", lambda sizes: {"regard": 7_000_000})
    threads = torch.get_num_threads()
    try:
        options = ["--without-keras", "--rounds", "1", "--json", str(tmp_path / "figures.json")]
        assert command.main(options) == 0
    finally:
        torch.set_num_threads(threads)
    printed = capsys.readouterr().out
    assert "- Keras MultiHeadAttention" in printed and "7 MB" in printed and ": 2, 2 GF" in printed
    whole = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert whole["settings"] == {"threads": 1, "rounds": 1, "keras": "not measured"}
