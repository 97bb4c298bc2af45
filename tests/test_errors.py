from regard.errors import UserError


def test_a_message_is_one_line() -> None:
    assert str(UserError("first\n  second\nthird\n")) == "first second third"


def test_other_line_separators_stay() -> None:
    assert str(UserError("a\u2028b")) == "a\u2028b"
