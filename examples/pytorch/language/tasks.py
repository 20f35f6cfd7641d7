"""Tasks in characters: sort digits, add numbers, copy what a calculator tool answers. Prompts have different lengths, so that padding matters."""

import random

CHARACTERS = "_$0123456789+>=[];?"  # padding and end of text come first
PAD, END = 0, 1
TASKS = ("sort", "add", "tool")


def encode(text):
    return [CHARACTERS.index(character) for character in text]


def decode(ids):
    return "".join(CHARACTERS[i] for i in ids)


def draw(task, dice):
    """A prompt and the answer that it wants. The sort of task follows from the prompt's last character."""
    if task == "mixed":
        task = dice.choice(TASKS)
    if task == "sort":
        digits = [dice.choice("0123456789") for _ in range(dice.randint(2, 6))]
        return "".join(digits) + ">", "".join(sorted(digits))
    left, right = dice.randint(0, 99), dice.randint(0, 99)
    return f"{left}+{right}" + ("=" if task == "add" else "?"), str(left + right)


def worked(prompt, answer):
    """A response as a teacher would write it: pieces of text, and whether the model writes them."""
    if prompt.endswith("?"):
        return [(f"[{prompt[:-1]}]", True), (tool(f"[{prompt[:-1]}]"), False), (answer + "$", True)]
    return [(answer + "$", True)]


def tool(text):
    """What the calculator writes after a call; it answers whatever stands between the last brackets."""
    called = text[text.rfind("[") + 1 : -1]
    try:
        return f"={sum(int(part) for part in called.split('+'))}"[:5] + ";"
    except ValueError:
        return "=;"


def grade(prompt, text, answer):
    """1 for the answer, less for some of its characters in their places. After a call only what follows the tool's word counts."""
    said = text.split(";")[-1] if prompt.endswith("?") else text
    ended = said.endswith("$")
    said = said.rstrip("$")
    if said == answer and ended:
        return 1.0
    right = sum(a == b for a, b in zip(said, answer))
    return 0.5 * right / max(len(said), len(answer), 1)


def pool(task, count, seed):
    """Prompts that come again and again, as a data set's do."""
    dice = random.Random(seed)
    return [draw(task, dice) for _ in range(count)]
