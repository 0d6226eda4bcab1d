"""What the text of the rules says of a job and neither the configuration nor the code does: command and environment."""

import ast
import re
import shlex
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from carryover.workflow import startup

END = "\0"  # of a word: it stands in none
BEFORE, AFTER = "python", "> {log} 2>&1"  # around the script and its flags in every command
_WORDS = r"""(?:[^'"\\;|&<>`$\n]|'[^']*'|"[^"`$]*"|\\.)*"""  # up to where the shell would do more than give words
_PLACEHOLDER = r"\{[^{}]*\}"  # a word that stands for any number of them


@dataclass(frozen=True)
class Rule:
    """One rule: its file, the words of its command from the script on, its literal inputs, its environment's file.

    `before` and `after` are what its command has around those words; a record tells of neither.
    """

    file: str
    before: str
    words: tuple[str, ...]
    after: str
    literals: dict[str, str]
    environment: str | None

    @property
    def flags(self):
        """Names of the flags that the rule itself gives."""
        return [word[2:].replace("-", "_") for word in self.words if word.startswith("--")]

    def difference(self, command, wildcards):
        """The first word of a recorded command that the rule gives otherwise, old and new; None where it can give it.

        What flags and files stand for the rule's placeholders is not looked at.
        """
        for text, plain in ((self.before, BEFORE), (self.after, AFTER)):
            if text != plain:
                return f"records tell of a script and its flags alone, so `{text}` around them must be `{plain}`"
        if self._gives(self.words, command, wildcards):
            return None
        then = startup.by_name(command)
        for name, words in startup.by_name(self.words).items():
            if name not in then:
                return f"{name} was not given, now {' '.join(self._filled(word, wildcards) for word in words)}"
            if not self._gives(words, then[name], wildcards):
                old, new = self._first(words, then[name], wildcards)
                return f"{name} {old}, now {new}".strip()
        return "the same words in another order"

    def _first(self, words, command, wildcards):
        """(old, new) where a command parts from words that cannot give it."""
        return next(
            (old, self._filled(word, wildcards))
            for word, old in zip_longest(words, command, fillvalue="nothing")
            if re.fullmatch(_PLACEHOLDER, word) or not self._gives([word], [old], wildcards)
        )

    def _gives(self, words, command, wildcards):
        text = "".join(f"{word}{END}" for word in command)
        return re.fullmatch("".join(self._pattern(word, wildcards) for word in words), text) is not None

    def _filled(self, word, wildcards):
        known = {f"{{input.{name}}}": text for name, text in self.literals.items()}
        known |= {f"{{wildcards.{name}}}": str(value) for name, value in wildcards.items()}
        for placeholder, text in known.items():
            word = word.replace(placeholder, text)
        return word

    def _pattern(self, word, wildcards):
        if re.fullmatch(_PLACEHOLDER, filled := self._filled(word, wildcards)):
            return f"(?:[^{END}]+{END})*"
        longer = f"(?:[^{END}]*/)?" if word == self.words[0] else ""  # by hand a script may have a longer path
        return longer + re.sub(r"\\\{.*?\\\}", f"[^{END}]*", re.escape(filled)) + END


def read(folder):
    """{name: Rule} of every rule in the folder's .smk files whose command is plain text and runs one of our scripts."""
    rules = {}
    for path in sorted(Path(folder).glob("*.smk")):
        for name, body in re.findall(r"^rule (\w+):\n((?:(?: .*)?\n)+)", path.read_text() + "\n", re.MULTILINE):
            parts = re.split(r"^    (\w+):", body, flags=re.MULTILINE)
            sections = dict(zip(parts[1::2], parts[2::2], strict=True))
            if command := _command(sections.get("shell", "")):
                literals = dict(re.findall(r'(\w+)="([^"{<]*)"', sections.get("input", "")))
                environment = re.search(r'"(?:\.\./)?(.*?)"', sections.get("conda", ""))
                rules[name] = Rule(
                    f"{path.parent.name}/{path.name}", *command, literals, environment and environment[1]
                )
    return rules


def _command(section):
    """(what stands before the script, the words from it on, what comes after them) of the text of a rule's `shell`.

    None where it is no plain string or runs no script.
    """
    try:
        whole = re.fullmatch(rf"(.*?)(?<!\S)(\S+\.py\s{_WORDS})(.*)", ast.literal_eval(f"({section}\n)"), re.DOTALL)
        return whole and (whole[1].strip(), tuple(shlex.split(whole[2])), whole[3].strip())
    except (SyntaxError, TypeError, ValueError):
        return None
