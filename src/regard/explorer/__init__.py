"""The explorer: models looked into live, in a browser on the same machine.

A page (`page`), a small application that answers it (`application`, behind `guard`), models and
photos that it holds (`shelf`, `photos`), and what is made of a question (`questions`, `answers`).
"""
