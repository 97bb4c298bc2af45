"""What reaches an output word from each source word, without attention and with it."""

import torch
from jaxtyping import Float
from torch import Tensor

from pictures.alignments import bahdanau
from pictures.charts import chart, label_cells, shade
from pictures.translator import EXAMPLE, Translator, recurrent, train_translator
from regard.data.batches import collate, encode_pairs


def recurrent_models() -> str:
    """Share of each source word in the gradient of every output word's log-probability."""
    without = train_translator(
        recurrent(
            attend="never",
            constant_context=True,
            readout="maxout",
            start={"from": "last", "projection": "tanh"},
        )
    )
    words = [*EXAMPLE.source.split(), "</s>"], [*EXAMPLE.target.split(), "</s>"]
    with chart(2, width=9.5, height=4.6) as made:
        for axes, translator, name in zip(
            made.axes, (without, bahdanau()), ("without attention", "with attention"), strict=True
        ):
            rows, probability = influence(translator)
            shade(axes, rows, highest=0.4)
            label_cells(axes, *words)
            axes.set_title(f"{name}: p of the sentence {probability:.2g}", pad=10)
    return made.svg


def influence(translator: Translator) -> tuple[Float[Tensor, "tokens source"], float]:
    """``|d log p(y_i) / d E x_j|``, its shares over j; and the probability of the translation."""
    model = translator.model
    batch = collate(encode_pairs([EXAMPLE], translator.tokenizers), [0])
    embedded = model.source_embedding(batch.source).detach().requires_grad_()
    memory = model.encoder(embedded, batch.source_mask)
    features = model.decoder(model.target_embedding(batch.inputs), memory, True).features
    chosen = model.output(features).gather(2, batch.outputs[..., None])[0, :, 0]
    rows = []
    for step in range(len(chosen)):
        (gradient,) = torch.autograd.grad(chosen[step], embedded, retain_graph=True)
        norms = gradient[0].norm(dim=1)
        rows.append(norms / norms.sum())
    return torch.stack(rows), chosen.sum().exp().item()
