"""What the text of the rules says of a job and neither the configuration nor the code does: command and environment."""

import re
import shlex
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from carryover.workflow import startup

END = "\0"  # of a word: it stands in none
_PLACEHOLDER = r"\{[^{}]*\}"  # a word that stands for any number of them


@dataclass(frozen=True)
class Rule:
    """One rule: its file, the words of its command from the script on, its literal inputs, its environment's file."""

    file: str
    words: tuple[str, ...]
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
    """{name: Rule} of every rule in the folder's .smk files that runs one of our scripts."""
    rules = {}
    for path in sorted(Path(folder).glob("*.smk")):
        for name, body in re.findall(r"^rule (\w+):\n((?:(?: .*)?\n)+)", path.read_text() + "\n", re.MULTILINE):
            parts = re.split(r"^    (\w+):", body, flags=re.MULTILINE)
            sections = dict(zip(parts[1::2], parts[2::2], strict=True))
            shell = "".join(re.findall(r'"(.*?)"', sections.get("shell", "")))
            command = re.search(r"\S+\.py\b.*", shell.partition(" > {log}")[0])
            if command:
                literals = dict(re.findall(r'(\w+)="([^"{<]*)"', sections.get("input", "")))
                environment = re.search(r'"(?:\.\./)?(.*?)"', sections.get("conda", ""))
                words = tuple(shlex.split(command[0]))
                rules[name] = Rule(f"{path.parent.name}/{path.name}", words, literals, environment and environment[1])
    return rules
