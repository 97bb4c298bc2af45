"""Pronounce words with g2p-en's network: `decode_g2p_en.py WORDS`, a word a line.

The package looks every word up in a dictionary before it asks its network, and loads that
dictionary, a tagger and a speller of numbers when it is imported. The network needs none of them:
empty ones stand in.
"""

import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from decoding import report


def stand_in() -> None:
    """Modules for `import nltk` and `import inflect` that hold nothing."""
    tokenizer = type("TweetTokenizer", (), {"tokenize": staticmethod(str.split)})
    corpus = _module("nltk.corpus", cmudict=_module("nltk.corpus.cmudict", dict=dict))
    data = _module("nltk.data", find=lambda name: name)
    tokenize = _module("nltk.tokenize", TweetTokenizer=tokenizer)
    _module("nltk", corpus=corpus, data=data, tokenize=tokenize, pos_tag=list)
    _module("inflect", engine=object)


def _module(name: str, **names: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(names)
    sys.modules[name] = made
    return made


def main() -> None:
    words = Path(sys.argv[1]).read_text(encoding="utf-8").lower().split("\n")[:-1]
    stand_in()
    from g2p_en import G2p

    network = G2p()
    parameters = sum(network.variables[name].size for name in network.variables.files)
    facts = {"version": version("g2p-en"), "parameters": parameters}
    report(lambda some: [network.predict(word) for word in some], words, facts)


if __name__ == "__main__":
    main()
