#!/usr/bin/python3
"""tools/changes.py PATH...: exit status 0 when something below one of the paths differs from the last commit that landed, or when that commit is not
known; else 1.

.ci/landed names the commit: the first commit of a change that is to land sets it to the last one that did."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def landed():
    """The last commit that landed; None where .ci/landed names none, or one that is no ancestor of HEAD."""
    file = ROOT / ".ci" / "landed"
    words = file.read_text().split() if file.exists() else []
    return words[0] if words and is_ancestor(words[0]) else None


def is_ancestor(commit):
    return subprocess.run(["git", "merge-base", "--is-ancestor", commit, "HEAD"], cwd=ROOT, capture_output=True).returncode == 0


def changed_files(commit):
    """Files that differ from `commit`, those that git does not track yet among them."""
    return set(git("diff", "--name-only", commit)) | set(git("ls-files", "--others", "--exclude-standard"))


def main():
    if not sys.argv[1:] or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if sys.argv[1:] else 2
    commit = landed()
    below = tuple(path.rstrip("/") + "/" for path in sys.argv[1:])
    return 0 if commit is None or any(f"{name}/".startswith(below) for name in changed_files(commit)) else 1


if __name__ == "__main__":
    sys.exit(main())
