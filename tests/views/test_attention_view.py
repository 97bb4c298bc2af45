import subprocess
import sys

import numpy as np
import pytest

from regard.views import AttentionView


def test_sequences_of_any_kind_become_tuples():
    weights = np.array([[0.25, 0.75], [1.0, 0.0]], dtype=np.float32)
    view = AttentionView(
        "a", "b", ["a", "</s>"], ["b", "</s>"], weights, -1, [[0, 0]], probabilities=[0.5, 1]
    )
    assert view.attention == ((0.25, 0.75), (1.0, 0.0))
    assert view.source_tokens == ("a", "</s>")
    assert view.alignment == ((0, 0),)
    assert view.probabilities == (0.5, 1.0)
    assert isinstance(view.score, float)
    assert hash(view) == hash(view)


def test_what_rounding_adds_is_cut_off():
    view = AttentionView("a", "b", ["a"], ["b"], [[1.0004]])
    assert view.attention == ((1.0,),)


@pytest.mark.parametrize(
    ("attention", "message"),
    [
        ([], "0 rows for 1 tokens"),
        ([[0.5]], "row 0 of attention has 1 weights for 2 source tokens"),
        ([[0.5, 1.2]], "from 0 to 1, not 1.2"),
        ([[0.5, -0.2]], "from 0 to 1, not -0.2"),
        ([[0.5, float("nan")]], "from 0 to 1, not nan"),
    ],
)
def test_wrong_attention_is_refused(attention, message):
    with pytest.raises(ValueError, match=message):
        AttentionView("a b", "c", ["a", "b"], ["c"], attention)


def test_wrong_probabilities_are_refused():
    with pytest.raises(ValueError, match="2 probabilities for 1 tokens"):
        AttentionView("a", "b", ["a"], ["b"], [[1]], probabilities=[0.1, 0.2])
    with pytest.raises(ValueError, match="a probability must be"):
        AttentionView("a", "b", ["a"], ["b"], [[1]], probabilities=[-0.7])


def test_importing_views_imports_no_library_of_pictures_or_tensors():
    code = (
        "import sys, regard.views; "
        "print([m for m in ('matplotlib', 'torch', 'numpy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
