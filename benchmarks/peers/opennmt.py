"""How OpenNMT-py is told to train the benchmark's model."""

from pathlib import Path

from corpus import Corpus
from peers.counted_command import counted_command
from workload import Workload

SCRIPT = Path(__file__).with_name("counted") / "train_opennmt.py"


def configuration(corpus: Corpus, workload: Workload, directory: Path) -> dict:
    """OpenNMT-py's configuration.

    `num_workers` is 0 because further processes would be further threads. Its bucket is the whole
    corpus, as regard's is: the best lengths it can match, tokenized before the first batch and so
    off the clock. (Its default, 262,144 examples, reads a small corpus several times first.)
    """
    return {
        "data": {
            "corpus": {
                "path_src": f"{corpus.train}.{corpus.source}",
                "path_tgt": f"{corpus.train}.{corpus.target}",
                "transforms": ["sentencepiece"],
                "weight": 1,
            }
        },
        "src_vocab": str(corpus.vocabulary),
        "tgt_vocab": str(corpus.vocabulary),
        "share_vocab": True,
        "src_subword_model": str(corpus.subwords),
        "tgt_subword_model": str(corpus.subwords),
        "save_model": str(directory / "model"),
        "save_checkpoint_steps": 1_000_000,
        "train_steps": 1_000_000,
        "valid_steps": 1_000_000,
        "report_every": 50,
        "num_workers": 0,
        "bucket_size": corpus.pairs,
        "seed": workload.seed,
        "batch_type": "tokens",
        "batch_size": workload.batch_tokens,
        "normalization": "tokens",
        "model_dtype": "fp32",
        "optim": "adam",
        "adam_beta2": 0.98,
        "learning_rate": workload.learning_rate,
        "decay_method": "rsqrt",
        "warmup_steps": workload.warm_up_steps,
        "max_grad_norm": 0,
        "label_smoothing": workload.label_smoothing,
        "param_init": 0,
        "param_init_glorot": True,
        "encoder_type": "transformer",
        "decoder_type": "transformer",
        "position_encoding": True,
        "layers": workload.layers,
        "heads": workload.heads,
        "hidden_size": workload.width,
        "word_vec_size": workload.width,
        "transformer_ff": workload.feed_forward,
        "dropout": [workload.dropout],
        "attention_dropout": [workload.attention_dropout],
        "share_embeddings": True,
        "share_decoder_embeddings": True,
    }


def command(
    python: Path, corpus: Corpus, workload: Workload, directory: Path, threads: int
) -> tuple[list[str], Path]:
    """The command that trains, and the record that it writes."""
    told = configuration(corpus, workload, directory)
    return counted_command(python, SCRIPT, told, directory / "opennmt.yaml", threads)
