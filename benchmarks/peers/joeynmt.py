"""How JoeyNMT is told to train the benchmark's model."""

from pathlib import Path

from corpus import Corpus
from peers.counted_command import counted_command
from workload import Workload

SCRIPT = Path(__file__).with_name("counted") / "train_joeynmt.py"


def configuration(corpus: Corpus, workload: Workload, directory: Path) -> dict:
    """JoeyNMT's configuration. It validates after `validation_freq` steps, which never come."""
    side = {
        "level": "bpe",
        "voc_file": str(corpus.vocabulary),
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": {"model_file": str(corpus.subwords), "pretokenizer": "none"},
    }
    embeddings = {"embedding_dim": workload.width, "scale": True, "dropout": workload.dropout}
    stack = {
        "type": "transformer",
        "num_layers": workload.layers,
        "num_heads": workload.heads,
        "embeddings": embeddings,
        "hidden_size": workload.width,
        "ff_size": workload.feed_forward,
        "dropout": workload.dropout,
        "layer_norm": "pre",
    }
    return {
        "name": "benchmark",
        "joeynmt_version": "2.3.0",
        "model_dir": str(directory / "model"),
        "use_cuda": False,
        "fp16": False,
        "random_seed": workload.seed,
        "normalization": "tokens",
        "data": {
            "train": str(corpus.train),
            "dev": str(corpus.valid),
            "dataset_type": "plain",
            "src": {"lang": corpus.source, **side},
            "trg": {"lang": corpus.target, **side},
        },
        "testing": {"beam_size": 1, "batch_size": 64, "eval_metrics": ["bleu"]},
        "training": {
            "normalization": "tokens",
            "loss": "crossentropy",
            "label_smoothing": workload.label_smoothing,
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "learning_rate": workload.learning_rate,
            "learning_rate_min": 1e-9,
            "learning_rate_warmup": workload.warm_up_steps,
            "scheduling": "warmupinversesquareroot",
            "batch_size": workload.batch_tokens,
            "batch_type": "token",
            "epochs": 1_000_000,
            "logging_freq": 50,
            "validation_freq": 1_000_000,
            "shuffle": True,
        },
        "model": {
            "initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": stack,
            "decoder": stack,
        },
    }


def command(
    python: Path, corpus: Corpus, workload: Workload, directory: Path, threads: int
) -> tuple[list[str], Path]:
    """The command that trains, and the record that it writes."""
    told = configuration(corpus, workload, directory)
    return counted_command(python, SCRIPT, told, directory / "joeynmt.yaml", threads)
