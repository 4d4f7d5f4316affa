"""What the sets of bench/public.py share: data found by name and read within a bound, and the program that computes rows from them."""
import gzip
import json
import pathlib
import subprocess

LONGEST_FILE = 64 << 20
PAGE = "docs/public-results.md says where it is published"


def find(directory, name):
    """The file, plain or gzip, in the directory or in one of its folders; None: it is not there."""
    for folder in (directory, *sorted(path for path in directory.iterdir() if path.is_dir())) if directory.is_dir() else ():
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    return None


def need(directory, name):
    path = find(directory, name)
    if path is None:
        raise SystemExit(f"{directory}: no {name} and no {name}.gz; {PAGE}")
    return path


def text(path):
    """Exits with the file's name when it is cut, no text, or longer than 64 MiB."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rb") as file:
            content = file.read(LONGEST_FILE + 1)
    except (OSError, EOFError) as error:
        raise SystemExit(f"{path}: {error}")
    if len(content) > LONGEST_FILE:
        raise SystemExit(f"{path}: longer than {LONGEST_FILE >> 20} MiB")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SystemExit(f"{path}: no text: {error}")


def lines(path):
    """The same for files of lines, whose last one ends."""
    content = text(path)
    if not content.endswith("\n"):
        raise SystemExit(f"{path}: cut: its last line has no end")
    return content


def program(build):
    return pathlib.Path(build) / "bench/bench_public_sets"


def compute(build, words, content, source):
    """A JSON value a line of the program's output; what it says of bad data stands behind `source`. Progress goes to the terminal as it comes."""
    command = [program(build), *map(str, words)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        # All of it is read before the first line is written.
        try:
            running.stdin.write(content)
            running.stdin.close()
        except BrokenPipeError:
            pass
        fault = None
        for line in running.stdout:
            value = json.loads(line)
            if "error" in value:
                fault = value["error"]
                continue
            yield value
    if fault is not None:
        raise SystemExit(f"{source}: {fault}")
    if running.returncode != 0:
        raise SystemExit(f"{command[0]} {words[0]} ended with status {running.returncode}")


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def row(name, goal, published, ours, met, **further):
    return {"name": name, "published": published, "ours": ours, "goal": goal, "met": met, **further}
