"""What the text of the rules says of a job and neither the configuration nor the code does: command and environment."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

END = "\0"  # of a word: it stands in none


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

    def gives(self, command, wildcards):
        """Whether the rule can give this command; what flags and files stand for its placeholders is not looked at."""
        words = "".join(self._pattern(word, wildcards) for word in self.words)
        text = "".join(f"{word}{END}" for word in command)
        return re.fullmatch(f"(?:[^{END}]*/)?{words}", text) is not None  # by hand a script may have a longer path

    def _pattern(self, word, wildcards):
        known = {f"{{input.{name}}}": text for name, text in self.literals.items()}
        known |= {f"{{wildcards.{name}}}": str(value) for name, value in wildcards.items()}
        for placeholder, text in known.items():
            word = word.replace(placeholder, text)
        if re.fullmatch(r"\{[^{}]*\}", word):
            return f"(?:[^{END}]+{END})*"
        return re.sub(r"\\\{.*?\\\}", f"[^{END}]*", re.escape(word)) + END


def read(folder):
    """{name: Rule} of every rule in the folder's .smk files that runs one of our scripts."""
    found = {}
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
                found[name] = Rule(f"{path.parent.name}/{path.name}", words, literals, environment and environment[1])
    return found
