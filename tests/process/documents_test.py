#!/usr/bin/env python3
"""What the documents say about commands: every command and option that they name is there, and what README and guides tell to type is
typed. Blocks of docs/install.md are for a machine of its own."""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import documents
import up

BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", documents.ROOT / "build"))
FAIRLEAD = BUILD / "fairlead"
DOCUMENTS = ["README.md", *(f"docs/{path.name}" for path in sorted((documents.ROOT / "docs").glob("*.md")))]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def run(*words, **options):
    return subprocess.run([str(word) for word in (FAIRLEAD, *words)], capture_output=True, text=True, timeout=120, check=False, **options)


class Named(unittest.TestCase):
    """Every command of Fairlead's that a document names, with the options that it names there."""

    @classmethod
    def setUpClass(cls):
        cls.helps = {}

    def help_of(self, path):
        if path not in self.helps:
            shown = run(*path, "--help")
            self.helps[path] = shown.stdout if shown.returncode == 0 else None
        return self.helps[path]

    def subcommands(self, path):
        text = self.help_of(path) or ""
        return set(re.findall(r"^  ([a-z-]+)", text.partition("Subcommands:")[2], re.M))

    def check(self, command):
        words = command.split()[1:]
        if words[0] in ("help", "supervise"):  # another way to say --help; what daemons start, in no list
            return
        path = ()
        # a|b|c means each of them.
        while words and (choices := [word for word in words[0].split("|") if re.fullmatch("[a-z][a-z-]*", word)]) and self.subcommands(path):
            for choice in choices:
                self.assertIn(choice, self.subcommands(path), command)
            path += (choices[0],)
            words.pop(0)
        self.assertTrue(path, command)
        known = set(OPTION.findall(self.help_of(path) or ""))
        if path == ("submit",):  # what follows is the job's
            words = words[:next((at for at, word in enumerate(words) if "/" in word), len(words))]
        for word in words:
            for option in OPTION.findall(word):
                self.assertIn(option, known | {"--help", "--version"}, command)

    def test_every_command_and_option_in_the_documents_is_there(self):
        count = 0
        for name in DOCUMENTS:
            for command in documents.commands_named(name):
                with self.subTest(document=name, command=command):
                    self.check(command)
                count += 1
        self.assertGreater(count, 100)

    def test_every_block_of_the_guides_is_run_or_says_why_not(self):
        for name in documents.GUIDES:
            for number, text, why_not in documents.blocks(name):
                if name != "docs/install.md":  # they are for a machine of its own
                    self.assertGreater(len(why_not), 10, f"{name}:{number} is run by no test: say why, or run it\n{text}")


class Operate(unittest.TestCase):
    """The table of docs/operate.md, on a cluster."""

    @classmethod
    def setUpClass(cls):
        cls.work, conf = up.start(cls, FAIRLEAD, "--queue", "prod=1")
        cls.environment = {**os.environ, "HADOOP_CONF_DIR": conf}
        (cls.work / "text").write_text("a b a\n")
        (cls.work / "marks").mkdir()
        done = run("submit", "--executors", "1", BUILD / "examples/word_count", cls.work / "text", cls.work / "out", env=cls.environment)
        cls.app = re.search(r"application_\d+_\d+", done.stderr).group()

    def type(self, words):
        """On a terminal, as people do; what goes on for ever is interrupted once it has shown something. Its exit code and what it showed."""
        out, terminal = pty.openpty()
        process = subprocess.Popen([str(FAIRLEAD), *words], stdin=terminal, stdout=terminal, stderr=terminal, env=self.environment, start_new_session=True)
        os.close(terminal)
        text, deadline, interrupted = b"", time.monotonic() + 30, False
        while True:
            ready, _, _ = select.select([out], [], [], 0.5)
            try:
                text += (part := os.read(out, 65536) if ready else b"")
            except OSError:  # it has ended
                break
            if not part and text and process.poll() is None and not interrupted:
                process.send_signal(signal.SIGINT)
                interrupted = True
            self.assertLess(time.monotonic(), deadline, words)
        os.close(out)
        return process.wait(timeout=10), text.decode()

    def test_its_commands_work(self):
        table = [line for line in documents.lines_of("docs/operate.md") if line.startswith("|")]
        done = []
        for line in table:
            app = self.app
            for command in re.findall(r"`(fairlead [^`]+|--[^`]+|-f)`", line):
                words = command.split()
                if words[0] != "fairlead":  # another option of `events`, or one that is left out
                    if done[-1] != "events":
                        continue
                    words = ["fairlead", "events", *words]
                if words[1] == "ha":  # needs a second resource manager: ha_test has it
                    continue
                if words[1] == "kill":
                    # Two tasks that wait for each other, and one slot: it does not end by itself.
                    app = run("submit", "--detach", "--executors", "1", BUILD / "tests/engine_faults", "meet", self.work / "marks", "2",
                              env=self.environment).stdout.strip()
                file = str(self.work / f"file-{len(done)}")
                for placeholder, value in (("ID", app), ("HOST:PORT", self.node()), ("HOST", self.node().split(":")[0]), ("FILE", file)):
                    words = [value if word == placeholder else word for word in words]
                code, shown = self.type(words[1:])
                self.assertEqual(code, 0, f"{command}\n{shown}")
                done.append(words[1])
        for command in ("top", "apps", "app", "events", "logs", "node", "queue", "kill"):
            self.assertIn(command, done)

    def node(self):
        lines = run("nodes", env=self.environment).stdout.splitlines()[1:]
        return sorted(line.split()[0] for line in lines)[0]


if __name__ == "__main__":
    unittest.main(verbosity=2)
