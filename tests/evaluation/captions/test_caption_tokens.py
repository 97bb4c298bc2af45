import pytest

from regard.evaluation.captions import caption_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A dog runs, then jumps.", "a dog runs then jumps"),
        ("the dog's ball , isn't it ?", "the dog 's ball is n't it"),
        ("They can't, cannot and won't.", "they ca n't can not and wo n't"),
        ("I'm gonna go; they'd've gone", "i 'm gon na go they 'd 've gone"),
        ("a T-shirt, black-and-white -- 3-d", "a t-shirt black-and-white 3-d"),
        ('a "stop" sign (red) [new]', "a stop sign -lrb- red -rrb- -lsb- new -rsb-"),
        ("Mr. Smith in the U.S. at 5 p.m.", "mr. smith in the u.s. at 5 p.m."),
        ("a mass. of people in Mass. today", "a mass of people in mass. today"),
        ("1,000 or 2.5 at 5:30, 1/2 of $5", "1,000 or 2.5 at 5:30 1/2 of $ 5"),
        ("red/white and AT&T &amp; R & B", "red/white and at&t & r & b"),
        ("rock 'n' roll and 'em, o'clock", "rock 'n' roll and 'em o'clock"),
        ("the girls' dogs' toys", "the girls dogs toys"),
        ("what?! no!! why?", "what ?! no !! why"),
        ("“smart” quotes – and it’s … fine", "smart quotes and it 's fine"),
        ("Ein Hund läuft über die Straße.", "ein hund läuft über die straße"),
        ("see www.dogs.com/cats, a@b.org #dog", "see www.dogs.com/cats a@b.org #dog"),
        ("so did I. The dog, dogs., too", "so did i the dog dogs. too"),
        ("... -- ' \" . ,", ""),
        ("", ""),
        ("  two\tdogs\n", "two dogs"),
    ],
)
def test_captions_are_cut_as_coco_cuts_them(text: str, tokens: str) -> None:
    assert " ".join(caption_tokens(text)) == tokens


def test_vowel_signs_and_accents_stay_in_their_words() -> None:
    assert caption_tokens("हिन्दी में कुत्ता") == ["हिन्दी", "में", "कुत्ता"]
    assert caption_tokens("cafe\u0301 au lait") == ["cafe\u0301", "au", "lait"]


def test_no_token_holds_a_space_and_spaces_part_nothing_further() -> None:
    text = "<a b> 1 1/2 dogs\u00a0run, (it's) New York's"
    tokens = caption_tokens(text)
    assert all(token and not any(map(str.isspace, token)) for token in tokens)
    assert caption_tokens(" ".join(caption_tokens("a dog runs on grass"))) == [
        "a", "dog", "runs", "on", "grass",
    ]  # fmt: skip
