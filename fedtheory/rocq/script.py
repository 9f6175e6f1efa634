"""The steps of a proof in the order in which Rocq reads the steps; unused steps are left out."""

import re


class Script:
    """The lines of a proof. A step that only states a fact has a name, and is left out if no later
    step uses the name."""

    def __init__(self) -> None:
        self.steps, self.count, self.depth = [], 0, 0

    def name(self, letter: str = "F") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def add(self, text: str, name: str | None = None) -> None:
        self.steps.append((self.depth, text, name))

    def fact(self, statement: str, proof: str, letter: str = "F") -> str:
        """Add a hypothesis with a short proof, and return its name."""
        name = self.name(letter)
        self.add(f"assert ({name} : {statement}).\n{{ {proof} }}", name)
        return name

    def open(self, text: str = "") -> None:
        self.add(f"{text}{{".strip())
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.add("}")

    def mark(self) -> int:
        return len(self.steps)

    def back(self, mark: int) -> None:
        del self.steps[mark:]

    def text(self) -> str:
        used, kept = set(), []
        for depth, text, name in reversed(self.steps):
            if name is None or name in used:
                kept.append("\n".join("  " * (depth + 1) + line for line in text.split("\n")))
                used |= set(re.findall(r"\b[A-Z][0-9]+\b", text))
        return "\n".join(reversed(kept))
