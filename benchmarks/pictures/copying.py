"""A picture of what a small pointer model writes and what it copies, symbols never seen too."""

import random
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from pictures.panels import panels
from regard.data.batches import bucket, collate, encode_pairs
from regard.data.configuration import (
    BatchingConfiguration,
    TokenizationConfiguration,
    TokenizerConfiguration,
)
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import Tokenizers, train_tokenizers
from regard.models import ModelConfiguration, build_model
from regard.models.copies import log_shares
from regard.models.pointer_model import PointerModel
from regard.training.configuration import TrainingConfiguration
from regard.training.objective import batch_loss
from regard.training.optimizer import Adam, clip_gradients
from regard.views import AttentionView

WORDS, UPDATES = 1500, 300
CONSONANTS, BACK, FRONT = "bdfgklmnprst", "aou", "eiöü"
#: Each with what is said of it; what the second one's consonants are was never seen.
EXAMPLES = {"all letters were trained on": "kitap", "v, j and h were never seen": "vajhe"}
_PEAK = 0.01


def plural(word: str) -> str:
    """As Turkish has it: -lar after a back vowel, -ler after a front one."""
    last = next(letter for letter in reversed(word) if letter in BACK + FRONT)
    return word + ("lar" if last in BACK else "ler")


def words(count: int, seed: int = 1) -> Pairs:
    """Words of two to four syllables and their plurals."""
    generator = random.Random(seed)
    found = []
    for _ in range(count):
        syllables = generator.randint(1, 3)
        word = "".join(
            generator.choice(CONSONANTS) + generator.choice(BACK + FRONT) for _ in range(syllables)
        )
        word += generator.choice(["", generator.choice(CONSONANTS)])
        found.append(Pair(word, plural(word)))
    return Pairs(tuple(found), "plurals", 0)


@cache
def train(updates: int = UPDATES) -> tuple[PointerModel, Tokenizers]:
    """Adam with warm-up and cooldown, from seed 1; some symbols are hidden now and then."""
    pairs = words(WORDS)
    side = TokenizerConfiguration(kind="character")
    tokenizers = train_tokenizers(TokenizationConfiguration(source=side, target=side), pairs, 1)
    examples = encode_pairs(pairs, tokenizers, opened=True)
    torch.manual_seed(1)
    model = build_model(_configuration(), tokenizers.source.size, tokenizers.target.size)
    assert isinstance(model, PointerModel)
    optimizer = Adam(model, TrainingConfiguration(optimizer="adam"))
    batching = BatchingConfiguration(tokens=600)
    update, epoch = 0, 0
    while update < updates:
        for indices in bucket(examples, batching, 1, epoch)[: updates - update]:
            update += 1
            optimizer.forget_gradients()
            batch_loss(model, collate(examples, indices)).loss.backward()
            clip_gradients(model, 1.0)
            optimizer.update(_PEAK * min(1.0, update / 30, (updates + 1 - update) / 75))
        epoch += 1
    return model.eval(), tokenizers


def origins(word: str, updates: int = UPDATES) -> Float[Tensor, "tokens origins"]:
    """What each letter of the plural has its probability from: the output layer, then each source
    position. A row adds up to 1."""
    model, tokenizers = train(updates)
    (example,) = encode_pairs([Pair(word, plural(word))], tokenizers, opened=True)
    batch = collate([example], [0])
    outputs = batch.outputs[0]
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        decoding = model.all_steps(memory, batch.inputs)
        log_p = model.output(decoding.features)[0]
    copies, pointing = memory.copies, decoding.copying
    assert copies is not None and pointing is not None
    generate, _ = log_shares(*pointing, copies)
    of_each = torch.cat([log_p, torch.full((len(log_p), len(word)), -torch.inf)], dim=1)
    written = (generate[0] + of_each.gather(1, outputs[:, None])[:, 0]).exp()
    weights = torch.sigmoid(-pointing.gate[0])[:, None] * pointing.log_weights[0].exp()
    same = copies.symbols[0][copies.slots[0]] == outputs[:, None]
    parts = torch.cat([written[:, None], weights * same], dim=1)
    return parts / parts.sum(1, keepdim=True)


def copying() -> str:
    """A word of known letters, and one of letters never seen."""
    views = [(heading, _view(word, origins(word))) for heading, word in EXAMPLES.items()]
    return panels(views, width=400, about="What is written and what is copied, letter by letter")


def _view(word: str, rows: Float[Tensor, "tokens origins"]) -> AttentionView:
    written = plural(word)
    sources = ("written", *word, "</s>")
    return AttentionView(word, written, sources, (*written, "</s>"), rows.tolist())


def _configuration() -> ModelConfiguration:
    return ModelConfiguration.model_validate(
        {
            "embedding": {"size": 24, "dropout": 0.0, "share": True},
            "encoder": {"kind": "recurrent", "size": 24, "dropout": 0.0},
            "decoder": {
                "kind": "recurrent",
                "size": 48,
                "attend": "after",
                "attention": {"score": "general"},
                "readout": "attentional",
                "readout_size": 24,
                "dropout": 0.0,
                "copying": True,
                "copying_unseen": 0.1,
            },
        }
    )
