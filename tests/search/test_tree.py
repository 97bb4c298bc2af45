"""The tree of a beam search: it is the search that was made, and nothing of it is changed."""

import math
from dataclasses import asdict

import pytest
import torch

from regard.search import SearchConfiguration, beam_search
from regard.search.hypothesis import END, NEVER_EMITTED
from regard.search.prefix import PrefixDecoder
from regard.search.tree import SearchTree, TreeRecorder

from .stub import Fixed, StubMemory, stub_decoder

A, B, C, D = 4, 5, 6, 7


def recorded(
    count: int = 12, beam: int = 4, pruned: int = 3, penalty: float = 1.0, **settings: float
):
    """Decoder, what the search finds, and the tree of each sentence."""
    decoder = stub_decoder(12, end=1.0, spread=2.0)
    keys = torch.arange(count)
    lengths = keys % 5 + 1
    configuration = SearchConfiguration(
        beam=beam, length_penalty=penalty, **{"maximum_length_extra": 4, **settings}
    )
    recorder = TreeRecorder(pruned, penalty)
    search = decoder, StubMemory(keys, 6), lengths, configuration
    found = beam_search(*search, nbest=beam, observer=recorder)
    assert found == beam_search(*search, nbest=beam)  # being watched changes nothing
    return decoder, found, [recorder.tree(key) for key in range(count)]


@pytest.mark.parametrize("penalty", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("beam", [1, 4])
def test_its_answers_are_those_of_the_search(penalty: float, beam: int) -> None:
    _, found, trees = recorded(beam=beam, penalty=penalty)
    assert {hypothesis.ended for each in found for hypothesis in each} == {True, False}
    for hypotheses, tree in zip(found, trees, strict=True):
        answers = tree.answers()
        for hypothesis, number in zip(hypotheses, answers, strict=False):
            node = tree.nodes[number]
            assert tree.tokens(number) == hypothesis.tokens
            assert node.score == pytest.approx(hypothesis.score)
            assert node.normalized_score == pytest.approx(hypothesis.normalized_score)
            assert (node.fate == "finished") is hypothesis.ended
        assert len(answers) >= len(hypotheses)


def test_every_node_is_what_the_model_says_of_its_tokens() -> None:
    decoder, _, trees = recorded()
    for key, tree in enumerate(trees):
        for number, node in enumerate(tree.nodes[1:], 1):
            tokens, parent = tree.tokens(number), tree.nodes[node.parent]
            assert node.step == len(tokens) == parent.step + 1
            assert node.parent < number
            assert not set(tokens) & set(NEVER_EMITTED)
            assert node.score == pytest.approx(decoder.score(key, tokens))
            assert node.score == pytest.approx(parent.score + node.log_probability)
            assert node.normalized_score == pytest.approx(node.score / node.step)
        assert len({tree.tokens(number) for number in range(len(tree.nodes))}) == len(tree.nodes)


def steps(tree: SearchTree) -> list[list[int]]:
    last = tree.nodes[-1].step
    return [[i for i, node in enumerate(tree.nodes) if node.step == s] for s in range(last + 1)]


def test_fates_are_what_the_next_step_made_of_each() -> None:
    seen = set()
    for tree in recorded()[2]:
        for step, numbers in enumerate(steps(tree)):
            kept = [i for i in numbers if tree.nodes[i].fate != "pruned"]
            pruned = [i for i in numbers if tree.nodes[i].fate == "pruned"]
            assert len(kept) <= 4 and len(pruned) <= 3
            worst = min((tree.nodes[i].score for i in kept), default=-math.inf)
            assert all(tree.nodes[i].score <= worst for i in pruned)
            for i in numbers:
                node = tree.nodes[i]
                children = [each for each in tree.nodes if each.parent == i]
                alive = [each for each in children if each.fate != "pruned"]
                assert (node.token == END) is (node.fate == "finished") or node.fate == "pruned"
                assert bool(alive) is (node.fate == "continued")
                assert not children or node.fate in ("continued", "abandoned")
                over = step + 1 if node.fate in ("continued", "abandoned") else step
                assert node.last_step == over
                seen.add(node.fate)
    assert seen == {"continued", "finished", "pruned", "abandoned", "open"}


def test_by_hand() -> None:
    """A beam of 2: B is kept and goes nowhere, since both places go to what follows A."""
    rows = {
        (): {A: 0.5, B: 0.3, C: 0.2},
        (A,): {END: 0.6, A: 0.4},
        (B,): {END: 0.5, B: 0.5},
        (A, A): {END: 1.0},
    }
    length = torch.tensor([1])
    recorder = TreeRecorder(2, 0.0)
    configuration = SearchConfiguration(beam=2, length_penalty=0.0, maximum_length_extra=4)
    beam_search(Fixed(rows, 8), length, length, configuration, observer=recorder)
    tree = recorder.tree(0)
    found = {tree.tokens(i): (node.fate, node.last_step) for i, node in enumerate(tree.nodes)}
    assert found == {
        (): ("continued", 1),
        (A,): ("continued", 2),
        (B,): ("abandoned", 2),
        (C,): ("pruned", 1),
        (A, END): ("finished", 2),
        (A, A): ("open", 2),
        (B, END): ("pruned", 2),
        (B, B): ("pruned", 2),
    }
    assert asdict(tree.nodes[1])["score"] == pytest.approx(math.log(0.5))


def test_a_forced_beginning_is_one_branch() -> None:
    decoder = PrefixDecoder(stub_decoder(12), [(5, 6, 7)], torch.device("cpu"))
    recorder = TreeRecorder(3, 1.0)
    memory, length = StubMemory(torch.arange(1)), torch.tensor([3])
    (found,) = beam_search(decoder, memory, length, SearchConfiguration(beam=3), observer=recorder)
    tree = recorder.tree(0)
    assert [len(each) for each in steps(tree)[:5]] == [1, 1, 1, 1, 6]
    assert tree.tokens(3) == (5, 6, 7)
    assert tree.tokens(tree.answers()[0]) == found[0].tokens
