"""How eole is told to train the benchmark's model."""

from pathlib import Path

from corpus import Corpus
from peers.counted_command import counted_command
from workload import Workload

SCRIPT = Path(__file__).with_name("counted") / "train_eole.py"


def configuration(corpus: Corpus, workload: Workload, directory: Path) -> dict:
    """eole's configuration: that of OpenNMT-py, which it goes on from, in its own words.

    Its layers have biases as the others' have, which it leaves out unless told. What it would work
    out of the attention at every step, for its log alone, is off.
    """
    return {
        "data": {
            "corpus": {
                "path_src": f"{corpus.train}.{corpus.source}",
                "path_tgt": f"{corpus.train}.{corpus.target}",
                "weight": 1,
            }
        },
        "transforms": ["sentencepiece"],
        "transforms_configs": {
            "sentencepiece": {
                "src_subword_model": str(corpus.subwords),
                "tgt_subword_model": str(corpus.subwords),
            }
        },
        "src_vocab": str(corpus.vocabulary),
        "tgt_vocab": str(corpus.vocabulary),
        "share_vocab": True,
        "report_every": 50,
        "seed": workload.seed,
        "model": {
            "architecture": "transformer",
            "layers": workload.layers,
            "heads": workload.heads,
            "hidden_size": workload.width,
            "transformer_ff": workload.feed_forward,
            "add_qkvbias": True,
            "add_final_linear_bias": True,
            "add_ffnbias": True,
            "share_embeddings": True,
            "share_decoder_embeddings": True,
            "embeddings": {
                "word_vec_size": workload.width,
                "position_encoding_type": "SinusoidalInterleaved",
            },
        },
        "training": {
            "model_path": str(directory / "model"),
            "train_steps": 1_000_000,
            "valid_steps": 1_000_000,
            "save_checkpoint_steps": 1_000_000,
            "world_size": 0,
            "gpu_ranks": [],
            "num_workers": 0,
            "bucket_size": corpus.pairs,
            "batch_type": "tokens",
            "batch_size": workload.batch_tokens,
            "normalization": "tokens",
            "compute_dtype": "fp32",
            "optim": "adam",
            "adam_beta2": 0.98,
            "learning_rate": workload.learning_rate,
            "decay_method": "rsqrt",
            "warmup_steps": workload.warm_up_steps,
            "max_grad_norm": 0,
            "label_smoothing": workload.label_smoothing,
            "param_init_method": "xavier_uniform",
            "dropout": [workload.dropout],
            "attention_dropout": [workload.attention_dropout],
            "log_attention_entropy": False,
        },
    }


def command(
    python: Path, corpus: Corpus, workload: Workload, directory: Path, threads: int
) -> tuple[list[str], Path]:
    """The command that trains, and the record that it writes."""
    told = configuration(corpus, workload, directory)
    return counted_command(python, SCRIPT, told, directory / "eole.yaml", threads)
