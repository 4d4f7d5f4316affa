#!/usr/bin/env python3
"""No class of the cores (src/scheduler, src/rm) has more than 60 functions or 21 fields, unless the lines above it say why:

    // Large on purpose: WHY
    class Name ...

A large one that says so is no failure; one that says so and is not large is. `--list` prints the ten largest.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTIONS, FIELDS = 60, 20
REASON = re.compile(r"//+ Large on purpose: \S+")
HEAD = re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)[^;{}()=]*\{")


def blank(text):
    """The text with comments and literals as spaces, so that positions stay."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]) if not re.match(r"'\d", m[0]) else m[0], text, flags=re.S)


def close(text, at):
    """The position after the brace that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("a brace is not closed")


def without_arguments(head):
    """`head` without what stands between the angle brackets of templates."""
    head = re.sub(r"operator\s*[-+*/%^&|~!=<>]+", "operator_", head)
    before = None
    while before != head:
        before, head = head, re.sub(r"<[^<>]*>", "", head)
    return head


def members(body):
    """(functions, fields) declared in a class' body; nested classes count for themselves."""
    functions = fields = at = 0
    body = re.sub(r"\b(public|private|protected)\s*:(?!:)", lambda m: " " * len(m[0]), body)
    while match := re.compile(r"[;{]").search(body, at):
        head = body[at:match.start()].strip()
        plain = without_arguments(head)
        end = match.end() if match[0] == ";" else close(body, match.start())
        at = end
        if not head or re.match(r"(using|friend|static_assert|enum|typedef|FL_FIELDS|FL_STATE|FL_STATE_PART)\b", plain):
            at = end if match[0] == ";" or plain.startswith("friend") else body.find(";", end) + 1
        elif match[0] == "{" and HEAD.match(head + "{"):
            at = body.find(";", end) + 1
            fields += 1 if body[end:at - 1].strip() else 0
        elif "(" in plain.split("=")[0]:
            functions += 1
            if match[0] == "{" and re.match(r"\s*[,{]", body[end:]):  # the first of a constructor's initializers
                while re.match(r"\s*[,{]", body[at:]):
                    at = close(body, body.index("{", at))
        else:
            if match[0] == "{":
                at = body.find(";", end) + 1
            if not re.match(r"(static|constexpr|inline)\b", plain):
                fields += 1 + re.sub(r"\([^()]*\)|\[[^]]*\]", "", without_arguments(plain)).count(",")
    return functions, fields


def classes(path):
    """(name, functions, fields, reason stands above) of each class in the file."""
    text = path.read_text(encoding="utf-8")
    code = blank(text)
    for match in HEAD.finditer(code):
        line = code.rfind("\n", 0, match.start()) + 1
        if re.search(r"\b(enum|friend)\s*$", code[line:match.start()]):
            continue
        above = text[:line].splitlines()
        comment = []
        while above and re.match(r"\s*(//|template)", above[-1]):
            comment.append(above.pop())
        functions, fields = members(code[match.end():close(code, match.end() - 1) - 1])
        yield match[1], functions, fields, any(REASON.search(one) for one in comment)


def self_test():
    sample = """struct A : B<int> {
  explicit A(int x) : x_(x), y_{1} {}
  template <class T> bool Has(const T& t) const { return t < x_; }
  friend bool operator==(const A&, const A&) = default;
  auto operator<=>(const A&) const = default;
  struct In { int a; int b; };
  std::function<void(int)> call;
  std::map<int, int> m{{1, 2}};
  int x_ = 0, y_ = 1;
  static constexpr int kNo = 3;
  std::array<int, 3> z{};
  FL_FIELDS(x_, y_)
  using X = int;
  enum class E { kA, kB };
};"""
    match = HEAD.search(sample)
    got = members(sample[match.end():close(sample, match.end() - 1) - 1])
    assert got == (3, 5), got


def main():
    self_test()
    found = []
    for folder in ("src/scheduler", "src/rm"):
        for path in sorted([*(ROOT / folder).rglob("*.h"), *(ROOT / folder).rglob("*.cc")]):
            if not path.name.endswith("_test.cc"):
                found += [(path.relative_to(ROOT), *one) for one in classes(path)]
    assert len(found) > 150, "classes are not found any more"
    if sys.argv[1:] == ["--list"]:
        for path, name, functions, fields, _ in sorted(found, key=lambda one: -max(one[2] / FUNCTIONS, one[3] / FIELDS))[:10]:
            print(f"{path}: {name}: {functions} functions, {fields} fields")
    failed = 0
    for path, name, functions, fields, reason in found:
        large = functions > FUNCTIONS or fields > FIELDS
        if large != reason:
            failed += 1
            print(f"{path}: {name} has {functions} functions and {fields} fields; " +
                  ("split it, or say why above it: // Large on purpose: ..." if large else "it need not say that it is large"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
