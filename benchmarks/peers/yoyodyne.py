"""How yoyodyne is told to train the benchmark's model."""

from pathlib import Path
from typing import Any

import yaml

from transduction_size import Size

SCRIPT = Path(__file__).with_name("counted") / "train_yoyodyne.py"


def configuration(train: Path, size: Size, directory: Path) -> dict[str, Any]:
    """yoyodyne's configuration: it trains on and on, and neither validates nor saves."""
    encoder = {
        "embedding_size": size.embedding,
        "hidden_size": size.hidden,
        "dropout": size.dropout,
        "layers": 1,
        "bidirectional": True,
    }
    model = {
        "embedding_size": size.embedding,
        "decoder_hidden_size": size.hidden,
        "decoder_dropout": size.dropout,
        "decoder_layers": 1,
        "source_encoder": {
            "class_path": "yoyodyne.models.modules.LSTMEncoder",
            "init_args": encoder,
        },
        "optimizer": {
            "class_path": "yoyodyne.optimizers.Adam",
            "init_args": {"lr": size.learning_rate},
        },
    }
    logger = {
        "class_path": "lightning.pytorch.loggers.CSVLogger",
        "init_args": {"save_dir": str(directory)},
    }
    return {
        "seed_everything": size.seed,
        "trainer": {
            "accelerator": "cpu",
            "max_epochs": -1,
            "gradient_clip_val": size.gradient_clip,
            "limit_val_batches": 0,
            "enable_progress_bar": False,
            "logger": logger,
        },
        "data": {
            "train": str(train),
            "model_dir": str(directory),
            "target_sep": " ",
            "batch_size": size.words,
        },
        "model": {"class_path": "yoyodyne.models.SoftAttentionLSTMModel", "init_args": model},
        "checkpoint": {"save_top_k": 0},
        "prediction": {"path": str(directory / "predictions.tsv")},
    }


def command(python: Path, train: Path, size: Size, directory: Path) -> tuple[list[str], Path]:
    """The command that trains, and the record that it writes."""
    path, record = directory / "yoyodyne.yaml", directory / "record.jsonl"
    path.write_text(yaml.safe_dump(configuration(train, size, directory)), encoding="utf-8")
    return [str(python), str(SCRIPT), str(path), str(record)], record
