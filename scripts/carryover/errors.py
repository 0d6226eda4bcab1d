"""The one kind of exception that is shown to a user as a sentence, without a stack trace."""


class UserError(ValueError):
    """Something a user can mend: its message is one sentence that names the key, flag, file or run."""


class DataError(UserError):
    """A data file that is missing, damaged, foreign or cannot be written; the message is one sentence for people."""


def sentence(error):
    """The message with its full stop."""
    text = str(error)
    return text if text.endswith((".", ".)")) else f"{text}."
