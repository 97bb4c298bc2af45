"""Small models of every kind over a few words, for whoever asks something of all of them."""

from typing import Any

import torch

from regard.data.configuration import TokenizationConfiguration
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import Tokenizers, copy_table, train_tokenizers
from regard.models import Model, ModelConfiguration, build_model

TRANSFORMER = {"kind": "transformer", "layers": 3, "heads": 2, "feed_forward_size": 8}
UNIVERSAL = {"kind": "universal_transformer", "heads": 2, "feed_forward_size": 8, "steps": 4}
GRU = {"kind": "recurrent", "size": 4}
ATTENTIVE = {"kind": "recurrent", "size": 6, "attend": "before", "readout_size": 5}
MODELS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "transformer": (TRANSFORMER, TRANSFORMER),
    "universal": (UNIVERSAL, UNIVERSAL),
    "adaptive": ({**UNIVERSAL, "adaptive": "graves"}, {**UNIVERSAL, "adaptive": "graves"}),
    "recurrent": (GRU, ATTENTIVE),
    "copying": (TRANSFORMER, {**TRANSFORMER, "copying": True}),
    "hard": (GRU, {"kind": "hard_attention", "size": 6, "readout_size": 5, "order": 1}),
    "never": (GRU, {**ATTENTIVE, "attend": "never", "constant_context": True}),
}
PAIRS = [("ein roter Stern", "a red star"), ("der  Stern", "the star"), ("da", "there")]


def tokenizers(kind: str = "space", features: bool = False) -> Tokenizers:
    size = {"size": 40} if kind == "subword" else {}
    sides: dict[str, Any] = {side: {"kind": kind, **size} for side in ("source", "target")}
    pairs = tuple(Pair(*pair, "N;PL" if features else "") for pair in PAIRS)
    more = {"features": {}} if features else {}
    configuration = TokenizationConfiguration.model_validate({"joint": True, **sides, **more})
    return train_tokenizers(configuration, Pairs(pairs, "here"))


SPACE = tokenizers()


def model(name: str, both: Tokenizers = SPACE, seed: int = 1) -> Model:
    encoder, decoder = MODELS[name]
    sections = {"embedding": {"size": 6}, "encoder": encoder, "decoder": decoder}
    torch.manual_seed(seed)
    copies = copy_table(both) if decoder.get("copying") else None
    features = 0 if both.features is None else both.features.size
    chosen = ModelConfiguration.model_validate(sections)
    made = build_model(chosen, both.source.size, both.target.size, features, copies=copies)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return made.eval()
