"""The commands that README and guides show: fenced blocks without a language, which somebody types into a shell."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
GUIDES = ("README.md", "docs/install.md", "docs/operate.md")


def lines_of(name):
    return (ROOT / name).read_text().splitlines()


def blocks(name):
    """Of each block of commands: its first line's number, its text, and why no test runs it ("" where one does)."""
    found, language, begin, lines = [], None, 0, lines_of(name)
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if language is None:
            language, begin = line[3:], number
            continue
        if language in ("", "sh", "bash"):
            before = next((text for text in reversed(lines[:begin]) if text), "")
            marked = NOT_RUN.fullmatch(before)
            found.append((begin + 2, "\n".join(lines[begin + 1:number]) + "\n", marked.group(1) if marked else ""))
        language = None
    return found


def runnable(name):
    return [text for _, text, why_not in blocks(name) if not why_not]


def inline(name):
    """Words in `code`, outside of blocks."""
    found, inside = [], False
    for line in lines_of(name):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            found += re.findall(r"`([^`]+)`", line)
    return found


def commands_named(name):
    """Every `fairlead ...` in a document, in blocks and between backquotes."""
    texts = inline(name)
    for _, block, _ in blocks(name):
        for line in block.replace("\\\n", " ").splitlines():
            texts += re.findall(r"(?:^|[;&|(] *|\$ )(fairlead [^;&|#)]*)", line.strip())
    return [text.strip() for text in texts if re.match(r"fairlead [a-z]", text)]
