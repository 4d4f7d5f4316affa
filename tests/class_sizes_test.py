#!/usr/bin/env python3
"""No class of src has more than 60 functions or 20 fields. In the cores (src/scheduler, src/rm) one may where the lines above it say why:

    // Large on purpose: WHY
    class Name ...

A large one that says so is no failure; one that says so and is not large is. Elsewhere those that were large when this test came to their folders are
in LARGE: their numbers only fall. `--list` prints the ten largest.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTIONS, FIELDS = 60, 20
# Not yet cut into parts (functions, fields). Whoever makes one smaller writes the new numbers, or takes the line away.
LARGE = {
    "process/rm/resource_manager.h: ResourceManager": (60, 31),
    "process/rm/resource_manager.h: ResourceManagerOptions": (0, 40),
    "process/rm/web.h: Web": (69, 12),
    "process/spark_master/yarn_application.h: YarnApplication": (30, 25),
    "process/rpc/rpc_server.cc: Connection": (40, 27),
    "process/ask/future.h: Future": (41, 30),
    "process/application/yarn_master.h: YarnMaster": (29, 28),
    "process/driver/job_driver.h: JobDriver": (39, 24),
    "process/shuffle/io_worker.h: IoWorker": (44, 32),
    "process/shuffle/connection.h: Connection": (58, 30),
    "endpoints/shuffle/session.h: Session": (60, 29),
    "env_zookeeper/elector.cc: ZooKeeperElector": (40, 28),
    "shell/nm/settings.h: NmSettings": (0, 33),
    "shell/nm/daemon.cc: Daemon": (1, 21),
    "tasks/task_set.h: TaskSet": (68, 31),
    "tasks/tasks.cc: Tasks": (72, 24),
    "tasks/dag_scheduler.h: DagScheduler": (69, 15),
    "engine/api/dataset.h: Dataset": (57, 28),
    "engine/history/stage_summary.h: StageSummary": (0, 36),
    "engine/plan/operators.h: TaskMetrics": (0, 21),
    "sim/traces/result.h: RunResult": (2, 37),
    "sim/traces/run.h: TraceRun": (51, 33),
    "sim/cluster/count_executor.h: CountExecutor": (33, 21),
    "model/queues.h: QueueConfig": (0, 22),
}
REASON = re.compile(r"//+ Large on purpose: \S+")
HEAD = re.compile(r"(?<!<)(?<!, )\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)[^;{}()=]*\{")


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


def after_semicolon(body, at):
    """The position after the next semicolon; at the end of the body when none follows."""
    found = body.find(";", at)
    return len(body) if found < 0 else found + 1


def members(body):
    """(functions, fields) declared in a class' body; nested classes count for themselves."""
    functions = fields = at = 0
    body = re.sub(r"\b(public|private|protected)\s*:(?!:)", lambda m: " " * len(m[0]), body)
    while match := re.compile(r"[;{]").search(body, at):
        head = body[at:match.start()].strip()
        plain = without_arguments(head)
        end = match.end() if match[0] == ";" else close(body, match.start())
        at = end
        if not head or re.match(r"(using|friend|static_assert|enum|typedef|FL_FIELDS|FL_STATE|FL_STATE_PART)\b|(class|struct) \w+$", plain):
            at = end if match[0] == ";" or plain.startswith("friend") else after_semicolon(body, end)
        elif match[0] == "{" and HEAD.match(head + "{"):
            at = after_semicolon(body, end)
            fields += 1 if body[end:at - 1].strip() else 0
        elif "(" in plain.split("=")[0]:
            functions += 1
            if match[0] == "{" and re.match(r"\s*[,{]", body[end:]):  # the first of a constructor's initializers
                while re.match(r"\s*[,{]", body[at:]):
                    at = close(body, body.index("{", at))
        else:
            if match[0] == "{":
                at = after_semicolon(body, end)
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


def too_large(place, functions, fields, reason):
    """What is wrong with a class of this size; "" when nothing is."""
    large = functions > FUNCTIONS or fields > FIELDS
    size = f"{place} has {functions} functions and {fields} fields; "
    if place in LARGE:
        if not large:
            return size + "take its line out of LARGE"
        return "" if (functions, fields) == LARGE[place] else size + f"it had {LARGE[place]}: cut it into parts, or write the smaller numbers"
    if large == reason:
        return ""
    of_a_core = place.startswith(("scheduler/", "rm/", "model/"))
    return size + ("it need not say that it is large" if reason else "split it" + (", or say why above it: // Large on purpose: ..." if of_a_core else ""))


def main():
    self_test()
    found = []
    for path in sorted([*(ROOT / "src").rglob("*.h"), *(ROOT / "src").rglob("*.cc")]):
        if not path.name.endswith(("_test.cc", "_bench.cc", "_fuzz.cc")):
            found += [(f"{path.relative_to(ROOT / 'src')}: {name}", *sizes) for name, *sizes in classes(path)]
    assert len(found) > 2000, "classes are not found any more"
    if sys.argv[1:] == ["--list"]:
        for place, functions, fields, _ in sorted(found, key=lambda one: -max(one[1] / FUNCTIONS, one[2] / FIELDS))[:10]:
            print(f"{place}: {functions} functions, {fields} fields")
    wrong = [said for one in found if (said := too_large(*one))]
    wrong += [f"{place} is gone: take its line out of LARGE" for place in LARGE if place not in {one[0] for one in found}]
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
