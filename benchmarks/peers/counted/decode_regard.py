"""Pronounce words with a run of regard: `decode_regard.py WORDS RUN BEAM BATCH`, a word a line."""

import sys
from importlib.metadata import version
from pathlib import Path

import torch
from decoding import report

import regard


def main() -> None:
    words = Path(sys.argv[1]).read_text(encoding="utf-8").split("\n")[:-1]
    run, beam, batch = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    torch.set_num_threads(1)
    model = regard.load(run)

    def decode(some: list[str]) -> list[list[str]]:
        answers = model.translate(some, beam=beam, batch_size=batch, attention=False)
        return [answer.text.split() for answer in answers]

    parameters = sum(each.numel() for each in model.network.parameters())
    facts = {"version": version("regard"), "parameters": parameters}
    report(decode, words, facts)


if __name__ == "__main__":
    main()
