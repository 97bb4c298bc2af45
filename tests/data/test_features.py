"""Features: tags as symbols."""

import pytest

from regard.data.features import FeaturesError, parse_features


@pytest.mark.parametrize(
    ("tag", "symbols"),
    [
        ("V;PST", "V PST"),
        ("V;IMP;ACC(2,SG)", "V IMP ACC ( 2 SG )"),
        ("N;ABL(PL;PSS(2,PL))", "N ABL ( PL PSS ( 2 PL ) )"),
        ("V;NOM(1,SG);PRIM(3,PL,BANTU8)", "V NOM ( 1 SG ) PRIM ( 3 PL BANTU8 )"),
        ("N;AT+ALL(SG)", "N AT + ALL ( SG )"),
        ("V;V.PTCP;FUT/PRS", "V V.PTCP FUT / PRS"),
        ("Case=Acc|Number=Sing", "Case=Acc Number=Sing"),
        ("pos=N,case=ACC,num=SG", "pos=N case=ACC num=SG"),
        ("  past   third\u00a0singular ", "past third singular"),
        (";V;;PST;", "V PST"),
        ("N", "N"),
        ("é;名詞", "é 名詞"),
    ],
)
def test_tags_of_every_notation(tag: str, symbols: str) -> None:
    assert list(parse_features(tag)) == symbols.split()


def test_brackets_tell_apart_what_has_the_same_parts() -> None:
    tags = [
        "N;ABL(PL);PSS(2,PL)",
        "N;ABL(PL;PSS(2,PL))",
        "N;ABL(PL;PSS(2),PL)",
        "N;ABL;PL;PSS;2;PL",
    ]
    assert len({parse_features(tag) for tag in tags}) == len(tags)


@pytest.mark.parametrize(
    ("tag", "told"),
    [
        ("N;ABL(PL", "a bracket that is not closed"),
        ("N;ABL(PL;PSS(2,PL)", "a bracket that is not closed"),
        ("N;PL)", "a bracket that was not opened"),
        ("N;)PL(", "a bracket that was not opened"),
        ("", "no features"),
        (" ; ,", "no features"),
    ],
)
def test_what_cannot_be_taken_apart(tag: str, told: str) -> None:
    with pytest.raises(FeaturesError, match=told) as caught:
        parse_features(tag)
    assert "\n" not in str(caught.value)
    assert not tag.strip(" ;,") or repr(tag) in str(caught.value)
