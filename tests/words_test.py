#!/usr/bin/python3
"""Comments say nouns. Words that stand for a noun named elsewhere ("of which", "is another"'s") make a sentence hard to read; their number in the
comments of src and apps may only fall. Whoever makes it fall writes the new number here."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 64
PATTERN = re.compile(r"\b(of which|of whom|of what|is another|are others|anew)\b")
COMMENT = re.compile(r"//+<?\s?(.*)$")


def comments(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = COMMENT.search(line)
        if found and '"' not in line[:found.start()]:
            yield number, found[1]


def main():
    words = found = 0
    show = sys.argv[1:] == ["--list"]
    for path in sorted(p for folder in ("src", "apps") for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cc")):
        for number, text in comments(path):
            words += len(text.split())
            hits = PATTERN.findall(text)
            found += len(hits)
            if hits and show:
                print(f"{path.relative_to(ROOT)}:{number}: {text}")
    print(f"{found} in {words} words of comments; at most {MOST}")
    return 0 if found <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
