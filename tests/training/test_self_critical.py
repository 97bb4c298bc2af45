"""Self-critical training: gradients by hand, rewards, and that a model learns from them."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.data.batches import Batch, collate, encode_pairs
from regard.data.special import END, PAD, START
from regard.data.tokenizers import Tokenizers, train_tokenizers
from regard.errors import UserError
from regard.evaluation.captions import CiderD, DocumentFrequencies
from regard.models import Model
from regard.search import Hypothesis, SearchConfiguration, greedy_search
from regard.search.hypothesis import NEVER_EMITTED
from regard.training.preparation import grid_of
from regard.training.rewards import END_WORD, CaptionRewards
from regard.training.run import load_run, model_for
from regard.training.self_critical import (
    Drawn,
    _allowed,
    draw_captions,
    self_critical_gradients,
    self_critical_loss,
    with_targets,
)
from regard.training.train import train

from .tiny_pictures import BACKBONE, colored, describing

PAIRS = colored(4)
CONFIGURATION = describing()
SEARCH = SearchConfiguration(maximum_length_ratio=0.0, maximum_length_extra=6)


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return train_tokenizers(CONFIGURATION.tokenization, PAIRS, 1)


@pytest.fixture
def model(tokenizers: Tokenizers) -> Model:
    """In float64 and evaluation mode, every parameter random."""
    torch.manual_seed(2)
    made = model_for(CONFIGURATION, tokenizers, grid_of(PAIRS)).double()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return made.eval()


@pytest.fixture
def batch(tokenizers: Tokenizers) -> Batch:
    made = collate(encode_pairs(PAIRS, tokenizers), range(len(PAIRS)))
    return replace(made, source=made.source.double())


NUMBERS = [pair.picture.number for pair in PAIRS if pair.picture is not None]


def test_the_gradient_of_the_output_bias_by_hand(
    model: Model, batch: Batch, tokenizers: Tokenizers
) -> None:
    """Sum over steps of (r - r^) (q - onehot), over the symbols that may be written."""
    rewards = CaptionRewards.of(PAIRS, tokenizers.target)
    drawn = draw_captions(model, batch, NUMBERS, rewards, SEARCH, seed=3, step=5)
    assert (drawn.advantages != 0).any()
    loss = self_critical_loss(model, drawn, SEARCH)
    (found,) = torch.autograd.grad(loss.loss, [model.output.bias])
    expected = torch.zeros_like(found)
    allowed = [v for v in range(len(found)) if v not in NEVER_EMITTED]
    for row, advantage in enumerate(drawn.advantages.tolist()):
        memory = model.encode(batch.source[row : row + 1], batch.source_mask[row : row + 1])
        state, token = model.start(memory), torch.tensor([START])
        for target in drawn.batch.outputs[row][drawn.batch.mask[row]]:
            log_probabilities, state, _ = model.step(token, state)
            probabilities = log_probabilities[0].detach().exp()
            share = probabilities[allowed] / probabilities[allowed].sum()
            expected[allowed] += advantage * share / len(batch.mask)
            expected[target] -= advantage / len(batch.mask)
            token = target[None]
    assert (found - expected).abs().max() < 1e-12
    assert loss.loss.item() == pytest.approx(-drawn.reward)


def test_the_mean_over_all_draws_is_the_gradient_of_the_expected_reward(
    model: Model, batch: Batch
) -> None:
    """Every caption of at most two tokens of one picture, whatever the baseline."""
    search = SearchConfiguration(maximum_length_ratio=0.0, maximum_length_extra=2)
    words = [v for v in range(len(model.output.bias)) if v not in (*NEVER_EMITTED, END)]
    captions = [(END,), *product(words, (*words, END))]
    rows = len(captions)
    every = [Hypothesis(each, 0.0, 0.0, each[-1] == END, ()) for each in captions]
    source = batch.source[:1].expand(rows, -1, -1)
    one = replace(batch, source=source, source_mask=torch.ones(source.shape[:2], dtype=torch.bool))
    targets = with_targets(one, every)
    rewards = torch.rand(rows, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    decoded = model(targets.source, targets.source_mask, targets.inputs, need_weights=False)
    log_q = _allowed(decoded.log_probabilities, 0).gather(2, targets.outputs[..., None])[..., 0]
    q = log_q.masked_fill(~targets.mask, 0.0).sum(1).exp()
    assert q.sum().item() == pytest.approx(1.0, abs=1e-12)
    parameters = list(model.parameters())
    expected = torch.autograd.grad(-(q * rewards).sum(), parameters, allow_unused=True)
    for baseline in (0.0, 0.7):
        drawn = Drawn(targets, q.detach() * (rewards - baseline) * rows, 0.0)
        loss = self_critical_loss(model, drawn, search).loss
        found = torch.autograd.grad(loss, parameters, allow_unused=True)
        for one_of, other in zip(found, expected, strict=True):
            assert (one_of is None) == (other is None)
            assert one_of is None or (one_of - other).abs().max() < 1e-12


def test_rewards_are_cider_d_with_the_end_as_a_word(tokenizers: Tokenizers) -> None:
    rewards = CaptionRewards.of(PAIRS, tokenizers.target)
    said: dict[int, list[list[str]]] = {}
    for pair, number in zip(PAIRS, NUMBERS, strict=True):
        said.setdefault(number, []).append([*pair.target.split(), END_WORD])
    metric = CiderD(DocumentFrequencies.of(said.values()))
    ids = tuple(tokenizers.target.encode(PAIRS[0].target))
    whole, open_ended = (Hypothesis(ids + end, 0.0, 0.0, bool(end), ()) for end in ((END,), ()))
    found = rewards.of_captions([NUMBERS[0]] * 2, [whole, open_ended])
    references = metric.prepare(said[NUMBERS[0]])
    words = PAIRS[0].target.split()
    expected = [metric.score([*words, END_WORD], references), metric.score(words, references)]
    assert found.tolist() == pytest.approx(expected) and expected[0] > expected[1]


def test_targets_are_padded_and_begin_with_the_start(batch: Batch) -> None:
    captions = [Hypothesis((5, 6, END), 0, 0, True, ()), Hypothesis((7,), 0, 0, False, ())]
    two = replace(batch, source=batch.source[:2])
    made = with_targets(two, captions)
    assert made.outputs.tolist() == [[5, 6, END], [7, PAD, PAD]]
    assert made.inputs.tolist() == [[START, 5, 6], [START, PAD, PAD]]
    assert made.mask.tolist() == [[True] * 3, [True, False, False]]


def test_draws_follow_seed_and_step_and_leave_dropout_out(
    model: Model, batch: Batch, tokenizers: Tokenizers
) -> None:
    rewards = CaptionRewards.of(PAIRS, tokenizers.target)
    model.train()

    def once(seed: int, step: int) -> tuple[list[Any], torch.Tensor]:
        options: Any = {"seed": seed, "step": step}
        _, drawn = self_critical_gradients(model, batch, NUMBERS, rewards, SEARCH, **options)
        assert model.training and model.output.bias.grad is not None
        return drawn.outputs.tolist(), model.output.bias.grad.clone()

    first, again, other = once(1, 1), once(1, 1), once(1, 2)
    assert first[0] == again[0] and torch.equal(first[1], again[1])
    assert first[0] != other[0]


REWARDED = {"objective": "self_critical", "learning_rate": 0.004, "warmup": 5}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A captioner that writes something, trained on likelihood."""
    out = tmp_path_factory.mktemp("begun") / "run"
    configuration = describing(maximum_updates=40)
    train(configuration, colored(40), colored(6, 9), out, backbone=BACKBONE, progress=False)
    return out


def greedy_reward(run: Path) -> float:
    """The mean reward of the captions that a run writes of its training pictures."""
    loaded, pairs = load_run(run), colored(40)
    questions = pairs.questions()
    rewards = CaptionRewards.of(pairs, loaded.tokenizers.target)
    batch = collate(encode_pairs(questions, loaded.tokenizers), range(len(questions)))
    memory = loaded.model.encode(batch.source, batch.source_mask)
    lengths = batch.source_mask.sum(1)
    captions = greedy_search(loaded.model, memory, lengths, loaded.configuration.search)
    numbers = [pair.picture.number for pair in questions if pair.picture is not None]
    return float(rewards.of_captions(numbers, captions).mean())


def test_the_reward_rises(begun: Path, tmp_path: Path) -> None:
    configuration = describing(**REWARDED, maximum_updates=40, metric="cider_d")
    out = tmp_path / "run"
    pairs = colored(40), colored(6, 9)
    train(configuration, *pairs, out, backbone=BACKBONE, begin=begun, progress=False)
    before, after = greedy_reward(begun), greedy_reward(out)
    assert after > 1.1 * before, (before, after)


def test_a_stopped_run_goes_on_to_the_same_weights(begun: Path, tmp_path: Path) -> None:
    pairs = colored(40), colored(6, 9)
    settings: dict[str, Any] = {**REWARDED, "validation_interval": 3}
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    options: Any = {"backbone": BACKBONE, "progress": False}
    train(describing(**settings, maximum_updates=6), *pairs, whole, begin=begun, **options)
    train(describing(**settings, maximum_updates=3), *pairs, parts, begin=begun, **options)
    train(describing(**settings, maximum_updates=6), *pairs, parts, resume=True, **options)
    one, other = (load_run(each).model.state_dict() for each in (whole, parts))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_what_cannot_be_rewarded(begun: Path, tmp_path: Path) -> None:
    pairs = colored(6), colored(4, 9)
    options: Any = {"backbone": BACKBONE, "progress": False}
    with pytest.raises(UserError, match=r"begin with a run that was trained on captions"):
        train(describing(**REWARDED), *pairs, tmp_path / "a", **options)
    wider = describing({"size": 32}, **REWARDED)
    with pytest.raises(UserError, match=r"model\.decoder\.size was 24 and is 32"):
        train(wider, *pairs, tmp_path / "a", begin=begun, **options)
    with pytest.raises(UserError, match=r"leave out training\.r_drop"):
        describing(**REWARDED, r_drop=1.0)
    with pytest.raises(UserError, match=r"attention is not hard"):
        attention = {"score": "additive", "size": 16, "select": "hard"}
        describing({"attention": attention}, **REWARDED)
    assert not (tmp_path / "a").exists()
