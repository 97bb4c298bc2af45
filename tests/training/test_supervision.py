"""Attention that learns from given links: what it costs, who may, and that it helps."""

from pathlib import Path

import pytest
import torch

from regard.data.alignment import Alignment
from regard.data.batches import collate, encode_pairs
from regard.data.pairs import Pairs
from regard.data.tokenizers import train_tokenizers
from regard.errors import UserError
from regard.evaluation.aligning import Aligner, align_texts
from regard.evaluation.alignment import alignment_error_rate
from regard.models import build_model
from regard.training.attention_costs import AttentionCosts
from regard.training.configuration import Configuration
from regard.training.continuation import fingerprint
from regard.training.objective import batch_loss
from regard.training.problems import resolve
from regard.training.run import load_run
from regard.training.train import train

from .parts import check_parts_pay_the_same
from .tiny import reversals, tiny


def turned_around(count: int, seed: int = 5) -> Pairs:
    """`a b c` to `c b a`, and that the first word belongs to the last."""
    pairs = reversals(count, seed)
    lengths = [len(source.split()) for source in pairs.sources()]
    return pairs.aligned([Alignment(frozenset((n - 1 - i, i) for i in range(n))) for n in lengths])


TRAIN, VALID = turned_around(60), reversals(8, seed=6)
TOKENIZERS = train_tokenizers(tiny().tokenization, TRAIN, 1)


@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_the_loss_is_that_of_the_formula(kind: str) -> None:
    """``- log p(y) - lambda sum_j g_ij log alpha_ij``, over all tokens, END too."""
    torch.manual_seed(2)
    model = build_model(tiny(kind).model, TOKENIZERS.source.size, TOKENIZERS.target.size)
    model = model.double().eval()
    batch = collate(encode_pairs(TRAIN, TOKENIZERS), range(20))
    decoded = model(batch.source, batch.source_mask, batch.inputs)
    costs = 0.0
    for row, pair in enumerate(TRAIN[:20]):
        assert pair.alignment is not None
        for source, step in pair.alignment.links:
            costs -= decoded.attention[row, step, source].log().item()
    plain = batch_loss(model, batch).loss
    found = batch_loss(model, batch, attention=AttentionCosts(supervision=0.7)).loss
    assert found.item() == pytest.approx(plain.item() + 0.7 * costs / int(batch.mask.sum()))


def test_shards_pay_what_the_whole_batch_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links are not spread evenly over tokens: every second sentence has none."""
    alignments = [pair.alignment or Alignment(frozenset()) for pair in TRAIN]
    sparse = TRAIN.aligned(
        [each if i % 2 else Alignment(frozenset()) for i, each in enumerate(alignments)]
    )
    torch.manual_seed(2)
    model = build_model(tiny().model, TOKENIZERS.source.size, TOKENIZERS.target.size).double()
    batch = collate(encode_pairs(sparse, TOKENIZERS), range(20))
    paid = check_parts_pay_the_same(model, batch, AttentionCosts(supervision=1.5), monkeypatch)
    assert paid > batch_loss(model, batch, 0.1).loss + 0.01


def error_rate(run: Path) -> float:
    """Of the attention that is shown, on pairs that were not learned from."""
    trained = load_run(run)
    held_out = turned_around(100, seed=7)
    texts = [(pair.source, pair.target) for pair in held_out]
    aligned = align_texts(Aligner(trained.model, trained.tokenizers), texts)
    gold = [pair.alignment.links for pair in held_out if pair.alignment is not None]
    found = [frozenset(each.alignment) for each in aligned]
    return alignment_error_rate(found, gold, [frozenset()] * len(gold))


def test_attention_learns_where_it_should_be(tmp_path: Path) -> None:
    """The same updates on the same pairs, with their links and without."""
    configuration = tiny(maximum_updates=150, supervision=1.0, validation_interval=500)
    rates = {}
    for name, pairs in {"with": TRAIN, "without": reversals(60)}.items():
        train(configuration, pairs, VALID, tmp_path / name, progress=False)
        rates[name] = error_rate(tmp_path / name)
    assert rates["with"] < 0.1 < rates["without"] / 2


def changed(configuration: Configuration, section: str, **values: object) -> Configuration:
    data = configuration.as_dict()
    part = data
    for key in section.split("."):
        part = part[key]
    part.update(values)
    return resolve(data, "tiny")


SUBWORDS = {side: {"kind": "subword", "size": 30, "sampling": 0.1} for side in ("source", "target")}
REFUSED = {
    "copies": (tiny("pointer"), "choose one whose decoder attends softly and does not copy"),
    "does not attend": (
        changed(tiny(), "model.decoder", attend="never", readout="none"),
        "choose one whose decoder attends softly",
    ),
    "weighs nothing": (tiny(supervision=0), "training.supervision is 0"),
    "samples": (changed(tiny(), "tokenization", **SUBWORDS), "set tokenization.*.sampling to 0"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_models_that_cannot_learn_from_links_say_so(why: str, tmp_path: Path) -> None:
    configuration, message = REFUSED[why]
    with pytest.raises(UserError, match="reversals has alignments") as raised:
        train(configuration, TRAIN, VALID, tmp_path / "run", progress=False)
    assert message in str(raised.value) and not (tmp_path / "run").exists()


def test_other_links_are_other_data() -> None:
    plain = reversals(60)
    assert len({fingerprint(pairs) for pairs in (plain, TRAIN)}) == 2
    assert fingerprint(TRAIN) == fingerprint(turned_around(60))
