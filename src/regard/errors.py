"""The one kind of error that is the user's to mend."""


class UserError(Exception):
    """Bad input or configuration, told in one line.

    The message says what is wrong, where (file, line, key) and what would be right. The command
    line prints it without a traceback and exits with 2. Line breaks in the message become spaces.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(part.strip() for part in message.split("\n")).strip())
