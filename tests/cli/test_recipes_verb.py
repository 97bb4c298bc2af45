"""The recipes verb."""

import json

RECIPES = ("seq2seq", "rnnsearch", "luong-dot", "luong-general", "transformer-tiny")


def test_every_recipe_is_listed_with_its_size(regard):
    listed = [
        json.loads(line)
        for line in regard("recipes", "--json", check=True).stdout.split(b"\n")[:-1]
    ]
    assert {recipe["recipe"] for recipe in listed} >= set(RECIPES)
    for recipe in listed:
        assert recipe["description"]
        assert 100_000 < recipe["parameters"] < 100_000_000
    shown = regard("recipes", check=True).stdout.decode()
    for recipe in listed:
        assert recipe["recipe"] in shown and f"{recipe['parameters']:,}" in shown


def test_a_printed_recipe_is_a_file_to_start_from(regard, tmp_path):
    printed = regard("recipes", "rnnsearch", check=True).stdout
    mine = tmp_path / "mine.yaml"
    mine.write_bytes(printed)
    assert regard("recipes", mine, check=True).stdout == printed
    assert b"learning_rate" in printed


def test_a_mistyped_name(regard, refused):
    refused(regard("recipes", "rnnserach"), "rnnserach", "rnnsearch")
