#!/usr/bin/env python3
"""What the commands answer, on a cluster of `fairlead up`: wrong words, numbers that cannot be meant, ends, logs."""
import concurrent.futures
import fcntl
import functools
import getpass
import html
import http.server
import json
import operator
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest
import urllib.error
import urllib.request

import up  # which makes tests/interop known
from waiting import until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build"))
FAIRLEAD = BUILD / "fairlead"


def run(*words):
    return subprocess.run([str(w) for w in (FAIRLEAD, *words)], capture_output=True, text=True, timeout=120)


class Words(unittest.TestCase):
    def test_an_unknown_command_is_named(self):
        for word in ("foo", "ap"):
            shown = run(word)
            self.assertEqual(shown.returncode, 2)
            self.assertIn(word, shown.stderr)
            self.assertIn("--help", shown.stderr)

    def test_queues_of_a_relative_directory_are_read(self):
        with tempfile.TemporaryDirectory() as work:
            (conf := pathlib.Path(work) / "conf").mkdir()
            (conf / "yarn-site.xml").write_text("<configuration/>")
            (conf / "fair-scheduler.xml").write_text("<allocations><queue/></allocations>")
            for directory, within in (("conf", work), (".", conf), (conf, "/")):
                shown = subprocess.run([FAIRLEAD, "config", "check", "--daemon", "rm", "--hadoop-conf", directory], cwd=within, capture_output=True, text=True, timeout=60)
                self.assertEqual(shown.returncode, 2, directory)
                self.assertIn(f"{conf}/fair-scheduler.xml:1:", shown.stderr)

    def test_every_command_has_examples(self):
        def commands(*above):
            shown = run(*above, "--help").stdout
            self.assertNotRegex(shown, r" in \[|:\{|\bU?INT\b|\bFLOAT\b|NONNEGATIVE|POSITIVE|ENUM:", above)  # words of ours, none of CLI11's
            listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", shown, re.M)
            names = re.findall(r"^  (\S+)  ", listed.group(1), re.M) if listed else []
            return [found for name in names for found in commands(*above, name)] or [(above, shown)]
        every = commands()
        self.assertGreater(len(every), 30)
        for words, shown in every:
            with self.subTest(words):
                after = shown.partition("Examples:\n")[2]
                self.assertGreaterEqual(len(re.findall(rf"^  fairlead {' '.join(words)}\b", after, re.M)), 2)

    def test_version(self):
        shown = run("--version")
        self.assertEqual(shown.returncode, 0)
        self.assertRegex(shown.stdout, r"^fairlead \d+\.\d+")

    def test_an_option_that_may_be_repeated_takes_one_word(self):
        # Before: --set swallowed the id, and the command missed its positional.
        shown = run("app", "--set", "yarn.resourcemanager.address=127.0.0.1:1", "--set", "a=b", "application_x")
        self.assertEqual(shown.returncode, 2)
        self.assertIn("application_x", shown.stderr)
        self.assertNotIn("required", shown.stderr)

    def test_config_check_says_where_queues_come_from(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("queues: {prod: {weight: 3}}\n")
            file.flush()
            self.assertIn("queues from Fairlead's YAML", run("config", "check", "--config", file.name).stdout)
        self.assertIn("queues from Fairlead's defaults", run("config", "check").stdout)

    def test_config_check_reads_what_commands_read(self):
        with tempfile.TemporaryDirectory() as work:
            (pathlib.Path(work) / "yarn-site.xml").write_text("<configuration>")
            for variable in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
                shown = subprocess.run([FAIRLEAD, "config", "check"], env={**os.environ, variable: work}, capture_output=True, text=True, timeout=60)
                self.assertEqual(shown.returncode, 2)
                self.assertIn(f"{work}/yarn-site.xml", shown.stderr)

    def test_config_check_gates_a_file_of_queues(self):
        def queue(name, mean_s):
            return {"name": name, "apps_later": 1, "apps_sooner": 0, "apps_no_more": 0, "mean_ms": mean_s * 1000}
        answer, asked = {"sentences": ["root.b: 1 application, in the mean 20 min later."], "apps": [], "queues": [queue("root.a", -3600), queue("root.b", 1200)]}, []

        class Manager(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                asked.append((self.path.partition("?")[0], json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *_):
                pass
        manager = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Manager)
        self.addCleanup(manager.server_close)
        self.addCleanup(manager.shutdown)
        threading.Thread(target=manager.serve_forever, daemon=True).start()
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write("<allocations/>")
            file.flush()
            check = ("config", "check", "--against", f"127.0.0.1:{manager.server_port}", file.name)
            for rule, code in (((), 0), (("--no-queue-later-than", "20m"), 0), (("--no-queue-later-than", "19m"), 1), (("--json", "--no-queue-later-than", "60s"), 1)):
                shown = run(*check, *rule)
                self.assertEqual(shown.returncode, code, shown.stderr)
                self.assertIn("in the mean 20 min later.", shown.stdout)
                self.assertEqual(shown.stderr.count("root.b is served 20m 0s later in the mean, which is more than"), code, shown.stderr)
                self.assertNotIn("root.a", shown.stderr)
            self.assertEqual(asked, [("/fairlead/v1/what-if", {"changes": [], "queues_file": "<allocations/>"})] * 4)
            self.assertEqual(run(*check, "--no-queue-later-than", "soon").returncode, 2)
            self.assertEqual(run(*check[:-1], "/nosuch.xml").returncode, 4)
            self.assertEqual(run(*check[:-1]).returncode, 2, "no file")
            self.assertEqual(run("config", "check", file.name).returncode, 2, "no manager")

    def test_config_check_tells_of_misspelt_elements_and_queues_written_twice(self):
        with tempfile.TemporaryDirectory() as work:
            file = pathlib.Path(work) / "fair-scheduler.xml"
            file.write_text("<allocations><queue name='prod'><wieght>3</wieght></queue>\n<queue name='prod'/></allocations>")
            shown = run("config", "check", "--daemon", "rm", "--set", f"yarn.scheduler.fair.allocation.file={file}")
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("did you mean 'weight'?", shown.stdout)
            self.assertIn(":2:2: queue root.prod is written twice", shown.stdout)

    def test_a_full_disk_is_told_and_a_reader_that_has_gone_is_not(self):
        for words in (("config", "profiles"), ("completion", "bash"), ("version",), ("--help",), ("apps", "--help"), ("man",)):
            with open("/dev/full", "w") as full:
                shown = subprocess.run([FAIRLEAD, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual((shown.returncode, shown.stderr), (1, f"fairlead {words[0]}: cannot write the output: No space left on device\n"))
        reading, writing = os.pipe()
        os.close(reading)
        shown = subprocess.run([FAIRLEAD, "version"], stdout=writing, stderr=subprocess.PIPE, restore_signals=False, timeout=60)
        os.close(writing)
        self.assertEqual((shown.returncode, shown.stderr), (0, b""))

    def test_numbers_that_cannot_be_meant(self):
        for option in ("--executors", "--executor-memory", "--driver-memory", "--executor-cores", "--executor-idle"):
            for value in ("0", "-1", "x", "99999999999999999999"):
                shown = run("submit", f"{option}={value}", "/bin/true")
                self.assertEqual(shown.returncode, 2, f"{option}={value}")
                self.assertIn(option, shown.stderr)
                self.assertLess(len(shown.stderr), 300, shown.stderr)
        shown = run("submit", "--executors", "2", "--executors-min", "3", "/bin/true")
        self.assertEqual(shown.returncode, 2)
        self.assertIn("--executors-min", shown.stderr)


ID = "application_1700000000000_0001"
CONTAINER = "container_1700000000000_0001_01_000001"
NOWHERE = ("--set", "yarn.resourcemanager.address=127.0.0.1:1", "--set", "yarn.resourcemanager.webapp.address=127.0.0.1:1")

# Words, exit code, what the sentence must hold. Nothing of this needs a cluster.
WRONG = [
    # Unknown words, with what was meant.
    *[((word,), 2, "no such command; did you mean '" + meant + "'") for word, meant in [
        ("aps", "apps"), ("nodse", "node"), ("queu", "queue"), ("log", "logs"), ("tops", "top"), ("evnts", "events"), ("kil", "kill"), ("sumbit", "submit"),
        ("histroy", "history"), ("repaly", "replay"), ("cofig", "config"), ("spark-mater", "spark-master"), ("shufle", "shuffle")]],
    *[((word,), 2, "no such command") for word in ("nonsense", "start-everything", "Apps-and-more", "\x1b[31mred", "foo")],
    ((), 2, "which command? 'fairlead up' starts a cluster; 'fairlead --help'"),
    *[((word,), 2, f"one of these has to follow: {first}") for word, first in (("config", "check"), ("sim", "run"), ("node", "drain"), ("queue", "show"))],
    (("ap",), 2, "did you mean 'app'? 'fairlead --help' lists them"),
    (("sim", "nosuch"), 2, "nosuch"), (("config", "chek"), 2, "chek"),
    # Unknown options of each command.
    *[((command, "--nosuch-option-at-all"), 2, "'--nosuch-option-at-all' is not understood") for command in
      ("up", "rm", "nm", "shuffle", "spark-master", "spark-worker", "apps", "nodes", "queues", "version")],
    *[((command, ID, "--nosuch-option-at-all"), 2, "'--nosuch-option-at-all' is not understood") for command in ("app", "logs", "history", "kill")],
    (("apps", "--quueue", "x"), 2, "did you mean '--queue'"), (("up", "--profle", "tdw"), 2, "did you mean '--profile'"),
    *[(("submit", option, "x", "/bin/true"), 2, f"'{option}' is an option of spark-submit alone; {instead}") for option, instead in
      (("--master", "the cluster is that of --hadoop-conf"), ("--deploy-mode", "the driver runs on the cluster"), ("-c", "write --conf NAME=VALUE"),
       ("--files", "put it where every node reads it"), ("--total-executor-cores", "there are --executors times"), ("--kill", "'fairlead kill ID'"))],
    (("submit", "--conf", "spark.excutor.memory=1g", "/bin/true"), 2, "did you mean 'spark.executor.memory'?"),
    (("nodes", "--jsn"), 2, "did you mean '--json'"), (("logs", ID, "--flie", "x"), 2, "did you mean '--file'"),
    (("apps", "surplus"), 2, "'surplus' is not understood"), (("nodes", "surplus"), 2, "'surplus' is not understood"),
    (("nodes", "--hellp"), 2, "'--hellp' is not understood; 'fairlead nodes --help' says what it takes"),
    (("queues", "surplus"), 2, "'surplus' is not understood"), (("app", ID, "surplus"), 2, "'surplus' is not understood"),
    # What is missing.
    *[((command,), 2, "required") for command in ("app", "kill", "logs", "history", "replay", "submit", "completion")],
    *[((command, option), 2, option) for command, option in [
        ("apps", "--set"), ("apps", "--hadoop-conf"), ("apps", "--user"), ("apps", "--queue"), ("up", "--nodes"), ("up", "--directory"),
        ("logs", "--file"), ("logs", "--tail"), ("submit", "--queue"), ("rm", "--hadoop-conf"), ("nm", "--set")]],
    (("help", "nosuch"), 2, "no such command"),
    # Nodes, queues, events.
    (("node", "drian", "n1"), 2, "did you mean 'drain'"), (("queue", "sho", "x"), 2, "did you mean 'show'"),
    (("ha",), 2, "one of these has to follow: transfer"), (("ha", "transfer"), 2, "required"), (("ha", "transfer", "rm2", *NOWHERE), 1, "one resource manager runs alone here"),
    (("state", "backup"), 2, "required"), (("state", "backup", "x", "--set", "fairlead.rm.state-dir=/nosuch"), 4, "there is no state in /nosuch"),
    (("state", "restore", "/nosuch.db"), 4, "there is no file /nosuch.db"), (("rm", "--log-file-mib=0"), 2, "--log-file-mib"),
    *[(("node", action), 2, "required") for action in ("drain", "undrain", "decommission")],
    *[(("node", "drain", "n1", f"--timeout={value}"), 2, "--timeout") for value in ("0", "-1", "x")],
    (("queue", "set", "root.a"), 2, "required"), (("queue", "set", "root.a", "weight"), 2, "weight=2"),
    (("queue", "set", "root.a", "weight=2", "weight=3"), 2, "'weight' is said twice; say it once"), (("up", "--queue", "a=1", "--queue", "a=2"), 2, "--queue: a is said twice"),
    (("queue", "set", "root.a", "weight=2", "--file", "/nosuch.xml"), 4, "/nosuch.xml"),
    (("events", "--kind", "nosuch"), 2, "--kind"), (("events", "--limit", "0"), 2, "--limit"), (("top", "--interval", "0"), 2, "--interval"),
    # Ids.
    *[((*command.split(), word), 2, word) for command in ("app", "why", "kill", "logs", "events --app") for word in
      ("x", "application_", "application_1", "application_x_1", "application_1_x", "job_1_1", CONTAINER, "application_1_1_1")],
    (("logs", ID, "--json"), 2, "'--json' is not understood"), (("config", "profiles", "--json", "--markdown"), 2, "--markdown"),
    (("logs", ID, "--container", "x"), 2, "--container"), (("logs", ID, "--container", "container_1700000000000_0002_01_000001"), 2, "is not of"),
    # Numbers.
    *[(("up", f"{option}={value}"), 2, option) for option in ("--nodes", "--memory", "--vcores", "--port-base") for value in ("x", "-1", "99999999999999")],
    (("up", "--nodes=0"), 2, "--nodes"), (("up", "--nodes=65"), 2, "--nodes"),
    *[(("submit", f"{option}={value}", "/bin/true"), 2, option) for option in
      ("--executors", "--executor-memory", "--driver-memory", "--executor-cores", "--executor-idle") for value in ("0", "-1", "x", "99999999999999999999")],
    *[((*command.split(), "-1"), 2, "-1 not in range 0 to 1000000000000") for command in ("sim run tdw --seed", "sim stages --seed", "sim drivers --seed", "sim faults --first")],
    *[((*command.split(), "nan"), 2, "nan is no number") for command in ("sim drivers --load", "sim run tdw --scale")],
    (("sim", "faults", "--seeds", "0"), 2, "0 not in range 1 to 1000000000"), (("sim", "faults", "--twice", "-1"), 2, "-1 not in range 0 to 1000000000"),
    *[(("logs", ID, f"--tail={value}"), 2, "--tail") for value in ("-1", "x", "99999999")],
    *[(("submit", f"--executor-memory={value}", "/bin/true"), 2, "like 512m or 2g") for value in ("512k", "1.5g", "g", "2 g", "99999999t")],
    *[(("submit", f"--max-attempts={value}", "/bin/true"), 2, "--max-attempts") for value in ("0", "-1")],
    (("submit", "--priority", "high", "/bin/true"), 2, "--priority: 'high' is not a number"),
    (("submit", "--executors", "2", "--executors-min", "3", "/bin/true"), 2, "--executors-min"),
    (("submit", "--gang", "--executors-min", "0", "/bin/true"), 2, "--gang"),
    # Spark's settings.
    *[(("submit", "--conf", setting, "/bin/true"), 2, shown) for setting, shown in [
        ("spark.locality.wiat=1s", "spark.locality.wiat: no such setting; did you mean 'spark.locality.wait'?"),
        ("spark.executor.cores=2", "spark.executor.cores is the option --executor-cores"),
        ("spark.scheduler.mode=FAIRLY", "spark.scheduler.mode is 'FAIRLY': write FIFO or FAIR"),
        ("spark.locality.wait", "write NAME=VALUE"),
        ("spark.scheduler.allocation.file=/nosuch.xml", "cannot read the pools in /nosuch.xml")]],
    # Files and keys.
    (("replay", "/tmp", "--decisions"), 2, "/tmp is a directory; name one file of it, such as rm.journal"),
    (("config", "check", "--against", "127.0.0.1:1", "/nosuch.xml"), 4, "/nosuch.xml: No such file or directory"),
    (("replay", "/nosuch/file"), 4, "/nosuch/file"), (("history", "/nosuch/file"), 4, "/nosuch/file"),
    *[((*command, "--hadoop-conf", "/nosuch/conf"), 2, "/nosuch/conf") for command in (("apps",), ("nodes",), ("queues",), ("app", ID), ("config", "check"))],
    *[((*command, "--config", "/nosuch.yaml"), code, "/nosuch.yaml") for command, code in ((("apps",), 4), (("config", "check"), 4), (("history", ID), 4), (("rm",), 2), (("nm",), 2))],
    (("submit", "/nosuch/job"), 4, "/nosuch/job: no such file"),
    *[((*command, "--set", "novalue"), 2, "KEY=VALUE") for command in (("apps",), ("nodes",), ("config", "check"), ("rm",), ("nm",))],
    (("config", "check", "--set", "fairlead.scheduler.profile=nosuch"), 2, "nosuch"),
    (("rm", "--set", "fairlead.scheduler.profile=nosuch"), 2, "nosuch"),
    (("apps", "--set", "yarn.resourcemanager.address=nonsense:port"), 2, "yarn.resourcemanager.address"),
    (("credentials", "make", "--client", "../x"), 2, "'../x' is a path and no name of a credential"),
    (("credentials", "revoke", "../x"), 2, "'../x' is a path and no name of a credential"),
    (("completion", "tcsh"), 2, "tcsh"), (("man", "nosuch"), 2, "no command 'nosuch'"),
    (("sim", "run", "tdw", "--weight", "nope=3"), 2, "no job is in a queue root.nope"),
    (("sim", "run", "tdw", "--weight", "x"), 2, "--weight"), (("sim", "run", "/nosuch/trace"), 4, "/nosuch/trace"),
    # No cluster: which address, why, what to do.
    *[((command[0], *NOWHERE, *command[1:]), 3, "127.0.0.1:1 does not answer: Connection refused; start one with 'fairlead up'") for command in
      (("apps",), ("apps", "-w"), ("app", ID), ("why", ID), ("nodes",), ("kill", ID), ("logs", ID), ("submit", "/bin/true"))],
    *[((*command, *NOWHERE), 3, f"fairlead {name}: the resource manager's web port does not answer: Connection refused; start one")
      for name, command in (("top", ("top", "--once")), ("events", ("events",)), ("node drain", ("node", "drain", "n1")), ("queues", ("queues",)), ("queue show", ("queue", "show", "root")))],
]


class Wrong(unittest.TestCase):
    """Every error has one form (who, what, why, what to do) and the exit code that commands.h says."""

    def test_wrong_words_are_explained(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda row: run(*row[0]), WRONG))
        for (words, code, part), shown in zip(WRONG, answers):
            with self.subTest(words=words):
                self.assertEqual(shown.returncode, code, shown.stderr)
                if words[:2] != ("config", "check"):  # which goes on with the other daemons
                    self.assertEqual(shown.stdout, "")
                self.assertTrue(shown.stderr.startswith("fairlead"), shown.stderr)
                self.assertIn(": ", shown.stderr)
                self.assertIn(part.replace("\x1b", ""), shown.stderr)
                self.assertNotRegex(shown.stderr, r"[\x00-\x09\x0b-\x1f\x7f]")
                self.assertLess(len(shown.stderr), 500)
                if code == 2 and "--help" in shown.stderr:
                    self.assertEqual(shown.stderr.count("\n"), 1, shown.stderr)

    def test_no_cluster_is_told_at_once(self):
        began = time.monotonic()
        self.assertEqual(run("apps", *NOWHERE).returncode, 3)
        self.assertLess(time.monotonic() - began, 2.5)

    def test_a_taken_port_is_named_once_with_what_to_do(self):
        with socket.create_server(("127.0.0.1", 0)) as taken, tempfile.TemporaryDirectory() as work:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            settings = {key: f"{work}/{key}" for key in ("fairlead.rm.state-dir", "yarn.nodemanager.recovery.dir", "yarn.nodemanager.local-dirs", "yarn.nodemanager.log-dirs")}
            settings |= {f"yarn.resourcemanager.{port}": "127.0.0.1:0" for port in ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")}
            for daemon, keys in (("rm", ["yarn.resourcemanager.webapp.address", "yarn.resourcemanager.address"]), ("nm", ["yarn.nodemanager.webapp.address"])):
                for key in keys:
                    shown = run(daemon, *(word for name, value in {**settings, key: address}.items() for word in ("--set", f"{name}={value}")))
                    self.assertNotEqual(shown.returncode, 0)
                    self.assertEqual(shown.stderr.count(f"annot listen on {address}"), 1, shown.stderr)
                    self.assertIn("Address already in use; end what listens there ('ss -ltnp' names it), or set another port", shown.stderr)

    def test_a_misspelt_key_that_is_not_set_is_near_to_one(self):
        shown = run("config", "check", "--set", "fairlead.rm.state-dri=/x")
        self.assertIn("fairlead.rm.state-dri has no effect on this resource manager with profile fairlead; did you mean 'fairlead.rm.state-dir'?", shown.stdout)

    def test_a_queue_in_yaml_is_shown_before_it_is_changed(self):
        with tempfile.TemporaryDirectory() as work:
            file = pathlib.Path(work) / "fairlead.yaml"
            file.write_text("# who may have how much\nrm: {host: 127.0.0.1}\nqueues:\n  prod: {weight: 3}  # agreed\n")
            shown = run("queue", "set", "root.prod", "weight=4", "max={memory: 4GiB}", "--config", file, "--preview")
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            self.assertEqual(shown.stdout, f"{file}\n-   prod: {{weight: 3}}  # agreed\n+   prod: {{max: {{memory: 4GiB}}, weight: 4}}  # agreed\n")
            shown = run("queue", "set", "root.prod", "wieght=4", "--config", file)
            self.assertEqual(shown.returncode, 2)
            self.assertIn("did you mean 'weight'?", shown.stderr)

    def test_there_are_many(self):
        self.assertGreaterEqual(len(WRONG), 150)


class Manual(unittest.TestCase):
    def test_every_command_has_a_page_that_man_renders(self):
        commands = re.findall(r"^complete -c fairlead -n __fish_use_subcommand -f -a ([\w-]+) ", run("completion", "fish").stdout, re.M)
        self.assertIn("submit", commands)
        for words in [[], *([command] for command in commands)]:
            page = run("man", *words)
            self.assertEqual(page.returncode, 0, page.stderr)
            for heading in (".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXIT STATUS"):
                self.assertIn(heading, page.stdout, words)
        self.assertIn("\\-\\-executor\\-memory", run("man", "submit").stdout)

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_pages_are_sound(self):
        for command in ([], ["submit"], ["logs"]):
            page = run("man", *command).stdout
            shown = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=page, capture_output=True, text=True, timeout=60)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_completion_of_bash_knows_commands_and_options(self):
        script = run("completion", "bash").stdout + 'COMP_WORDS=(fairlead lo); COMP_CWORD=1; _fairlead; echo "${COMPREPLY[@]}"\n' \
            'COMP_WORDS=(fairlead logs --ta); COMP_CWORD=2; values() { :; }; _fairlead; echo "${COMPREPLY[@]}"'
        shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, env={**os.environ, "HADOOP_CONF_DIR": "/nosuch"})
        self.assertEqual(shown.stdout.split("\n")[:2], ["logs", "--tail"], shown.stderr)

    def test_completion_of_bash_knows_what_follows_a_subcommand(self):
        script = 'fairlead() { [ "$1" = values ] && args="${*:2}" && echo "live-${args// /,}"; [ "$2" = nodes ] && echo host:34567; }\n' + run("completion", "bash").stdout
        for words, expected in (("node dr", "drain"), ("node drain --ti", "--timeout"), ("node drain l", "live-nodes"), ("queue set l", "live-queues"),
                                ("app --hadoop-conf /c --user u l", "live-apps,--hadoop-conf,/c,--user,u"), ("events --kind pre", "preempted"), ("events --node l", "live-nodes"),
                                ("events --app l", "live-apps"), ("apps --state RUN", "RUNNING"), ("up --profile td", "tdw"), ("completion f", "fish"), ("apps --state --a", ""),
                                ("app --hadoop-conf --a", ""), ("node drain host : 3", "34567"), ("node drain host :", "34567"), ("queue set root.a --pre", "--preview"), ("why l", "live-active"), ("submit --queue l", "live-queues"), ("sim run --prof", "--profile")):
            script += f"\nCOMP_WORDS=(fairlead {words}); COMP_CWORD={len(words.split())}; _fairlead; echo \"${{COMPREPLY[*]}}\""
            with self.subTest(words):
                shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
                self.assertEqual(shown.stdout.split("\n")[-2], expected, shown.stderr)

    def test_config_check_says_what_its_exit_status_means(self):
        shown = " ".join(run("config", "check", "--help").stdout.split())
        alone, _, against = shown.partition("Exit status: ")[2].partition("With --against: ")
        self.assertIn("0 when the daemons would start on it; 2 with what is wrong", alone)
        for status in ("0 when", "1 where", "2 with", "3 when", "4 when", "6 where"):
            self.assertIn(status, against)

    def test_help_is_a_word_too(self):
        self.assertEqual(run("help", "node", "drain").stdout, run("node", "drain", "--help").stdout)
        self.assertIn("Subcommands:", run("help").stdout)


class LongWork(unittest.TestCase):
    def test_it_tells_a_file_how_far_it_is(self):
        faults = subprocess.Popen([FAIRLEAD, "sim", "faults", "--seeds", "1000000"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            self.assertRegex(faults.stderr.readline(), r"^sim faults +\[ {30}\] +0 %  \d+ of 1000000 seeds\n$")
        finally:
            faults.kill()
            faults.communicate(timeout=30)


class History(unittest.TestCase):
    def test_a_log_is_served_with_its_page(self):
        with tempfile.TemporaryDirectory() as work:
            line = '{"application_started":{"at_ms":1,"id":"application_1_0001","program":"<b>job"}}\n'
            (log := pathlib.Path(work) / "events.jsonl").write_text(line)
            server = subprocess.Popen([FAIRLEAD, "history", "--serve", "127.0.0.1:0", log], stdout=subprocess.PIPE, text=True)
            try:
                page = server.stdout.readline().split()[0]
                with urllib.request.urlopen(page, timeout=10) as answer:
                    self.assertEqual(answer.url, page + "static/history.html")
                    self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
                    names = re.findall(r'(?:src|href)="([a-z.]+)"', answer.read().decode())
                self.assertIn("history.js", names)
                for name in [*names, "story.js", "parts.js"]:
                    self.assertEqual(urllib.request.urlopen(f"{page}static/{name}", timeout=10).status, 200, name)
                for start, rest in ((0, line), (5, line[5:]), (10**6, "")):
                    self.assertEqual(urllib.request.urlopen(f"{page}events.jsonl?start={start}", timeout=10).read().decode(), rest)
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(f"{page}events.jsonl?start=-1", timeout=10)
                self.assertEqual(refused.exception.code, 400)
            finally:
                server.terminate()
                server.communicate(timeout=30)


    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_page_and_command_say_the_same_of_a_log_without_sums(self):
        """Of a driver that was killed, or of an earlier release: without all metrics, too."""
        lines = [{"application_started": {"at_ms": 1, "id": "application_1_0001", "program": "job"}},
                 {"executor_joined": {"at_ms": 1, "executor": "1", "host": "h1", "slots": 1}}]
        for stage in range(2):
            lines.append({"stage_started": {"at_ms": 2, "stage": stage, "attempt": 0, "job": 0, "name": "s", "tasks": 10}})
            for task in range(5):
                launch = {"at_ms": 5, "task": task, "stage": stage, "stage_attempt": 0, "partition": task, "executor": "1", "level": "ANY", "speculative": task == 3, "wanted": "h9", "why": "busy"}
                metrics = {"bytes_read": (5 << 20) * (task == 4), "cached_made": 1} if task > 2 else {}
                lines.append({"task_finished": {"launch": launch, "at_ms": 25 + 300 * (task == 2), "end": "exception" if task == 1 else "success", "reason": "", "metrics": metrics}})
        with tempfile.TemporaryDirectory() as work:
            log = pathlib.Path(work) / "events.jsonl"
            log.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
            ours = [[stage["stage"], stage["attempt"], stage["findings"], stage["notes"]] for stage in json.loads(run("history", "--json", log).stdout)["stages"]]
            self.assertEqual([finding["kind"] for finding in ours[1][2]], ["slow tasks", "large reads", "failed attempts", "second tries", "away from data"])
            self.assertEqual(ours[1][3], ["cached partitions: 2 made"])
            server = subprocess.Popen([FAIRLEAD, "history", "--serve", "127.0.0.1:0", log], stdout=subprocess.PIPE, text=True)
            try:
                (served := pathlib.Path(work) / "served.jsonl").write_bytes(urllib.request.urlopen(f"{server.stdout.readline().split()[0]}events.jsonl", timeout=10).read())
            finally:
                server.terminate()
                server.communicate(timeout=30)
            page = subprocess.run(["node", ROOT / "tests/browser/findings.mjs", ROOT / "web/engine/story.js", served], capture_output=True, text=True, timeout=60)
            self.assertEqual(page.returncode, 0, page.stderr)
            self.assertEqual(ours, json.loads(page.stdout))


class ShuffleService(unittest.TestCase):
    def test_its_page_is_there_and_its_metrics_are_numbers_by_name(self):
        with tempfile.TemporaryDirectory() as work, socket.socket() as one, socket.socket() as two:
            for s in (one, two):
                s.bind(("127.0.0.1", 0))
            port, web = one.getsockname()[1], two.getsockname()[1]
            one.close(), two.close()
            daemon = subprocess.Popen([FAIRLEAD, "shuffle", "--port", str(port), "--web-port", str(web), "--local-roots", work, "--state", f"{work}/state"],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                def page(name):
                    return urllib.request.urlopen(f"http://127.0.0.1:{web}/{name}", timeout=10).read().decode()

                text = until(lambda: page("metrics"), "its pages", 30, watch=lambda: self.assertIsNone(daemon.poll()))
                pages = {name: page(name) for name in ("", *(f"static/{part}" for part in ("page.js", "parts.js", "chart.js", "rm.css", "icon.svg")))}
            finally:
                daemon.terminate()
                daemon.wait(timeout=30)
        self.assertIn('<html lang="en">', pages[""])
        self.assertIn("/status", pages["static/page.js"])
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        self.assertGreater(len(lines), 5)
        for line in lines:
            self.assertRegex(line, r"^fairlead_shuffle_[A-Za-z0-9_]+ \d+$|^process_[a-z_]+ [\d.]+$|^fairlead_build_info\{version=\"\d+\.\d+\.\d+\"\} 1$")
        self.assertGreater(float(re.search(r"^process_resident_memory_bytes (\S+)$", text, re.M).group(1)), 1e6)


class Up(unittest.TestCase):
    def test_a_directory_in_use_is_left_as_it_is(self):
        with tempfile.TemporaryDirectory() as work:
            (used := pathlib.Path(work) / "used").mkdir()
            for folder in ("conf", "rm", "nm1"):
                (used / folder).mkdir()
            (used / "conf/yarn-site.xml").touch()
            with open(used / "lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                shown = run("up", "--directory", used)
            self.assertEqual((shown.returncode, shown.stderr), (1, f"fairlead up: a cluster is up in {used}; end that one first, or choose another --directory\n"))
            self.assertEqual((used / "nm1").stat().st_mode & 0o777, 0o755)

    def test_taken_ports_are_told_and_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as work, socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            shown = run("up", "--port-base", port - 88, "--directory", f"{work}/new")
            self.assertEqual(shown.returncode, 1)
            # Of the block another program may hold one, too.
            self.assertRegex(shown.stderr, r"^fairlead up: port \d+ is taken; choose another --port-base, or none\n$")
            self.assertEqual(os.listdir(work), [])


SCHEMA = json.loads(run("schema").stdout)
KINDS = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list, "null": type(None)}


def differences(value, schema, where="$", whole=SCHEMA):
    """Where a value is not as a JSON schema says: what ours use of draft 7, no more. `whole`: the document that holds it."""
    if "$ref" in schema:
        schema = functools.reduce(operator.getitem, schema["$ref"].removeprefix("#/").split("/"), whole)
    if "anyOf" in schema:
        ways = [differences(value, way, where, whole) for way in schema["anyOf"]]
        return [] if [] in ways else ways[0]
    if "allOf" in schema:
        return [found for part in schema["allOf"] for found in differences(value, part, where, whole)]
    if "type" not in schema:
        return []
    kind = schema["type"]
    if not isinstance(value, KINDS[kind]) or (kind in ("integer", "number") and isinstance(value, bool)):
        return [f"{where} is no {kind}: {value!r}"]
    if kind == "array":
        return [found for at, item in enumerate(value) for found in ("items" in schema and differences(item, schema["items"], f"{where}[{at}]", whole) or [])]
    if kind != "object":
        return []
    known = schema.get("properties", {})
    found = [f"{where} lacks {name}" for name in schema.get("required", []) if name not in value]
    for name, item in value.items():
        if name in known:
            found += differences(item, known[name], f"{where}.{name}", whole)
        elif not schema.get("additionalProperties", True):
            found.append(f"{where}.{name} is not in the schema")
    return found


class OnACluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work, cls.conf = up.start(cls, FAIRLEAD, "--queue", "small=1")
        (cls.work / "text").write_text("a b a\n")

    def ask(self, name, *words):
        return run(*name.split(), "--hadoop-conf", self.conf, *words)

    def finished_job(self, *words):
        out = self.work / f"out{time.monotonic_ns()}"
        shown = self.ask("submit", *words, "--executors", "1", BUILD / "examples/word_count", self.work / "text", out)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return next(word for word in shown.stderr.split() if word.startswith("application_"))

    def test_what_has_ended_is_not_said_to_be_killed(self):
        app = self.finished_job()
        shown = self.ask("kill", app)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("has ended before: FINISHED", shown.stderr)
        self.assertNotIn("killed", shown.stdout)

    def test_submit_prints_what_the_job_printed(self):
        shown = self.ask("submit", "--num-executors", "1", "--executor-memory", "512m", BUILD / "examples/word_count", self.work / "text", self.work / "printed")
        self.assertEqual((shown.returncode, shown.stdout), (0, "2 different words\n"), shown.stderr)
        self.assertRegex(shown.stderr, r"^submitted application_\d+_\d+\nits page: http://127\.0\.0\.1:\d+/cluster/app/application_\d+_\d+\n(.*\n)*application_\d+_\d+ ended: SUCCEEDED after \d+s\n$")

    def test_submit_tells_of_a_program_that_is_no_job_and_of_each_attempt(self):
        shown = self.ask("submit", "--max-attempts", "2", "--driver-memory", "64m", "/bin/sleep", "1")
        self.assertEqual(shown.returncode, 5, shown.stderr)
        self.assertIn("it ended without registering as a master: is it linked with the engine?\nits logs: ", shown.stderr)
        self.assertRegex(shown.stderr, r"\nattempt 2 begins; attempt 1 ended: AM Container for \S+ exited with  exitCode: 0\n")
        self.assertNotIn("is it linked", self.ask("submit", "--max-attempts", "1", "--driver-memory", "64m", "/bin/false").stderr)

    def test_submit_interrupted_at_a_terminal_says_so_and_leaves_it_there(self):
        out, terminal = pty.openpty()
        submit = subprocess.Popen([FAIRLEAD, "submit", "--hadoop-conf", self.conf, "--driver-memory", "64m", "/bin/sleep", "600"], stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        text = b""
        while b"ACCEPTED" not in text:
            text += os.read(out, 65536)
        submit.send_signal(signal.SIGINT)
        try:
            while part := os.read(out, 65536):
                text += part
        except OSError:  # the other side is closed
            pass
        os.close(out)
        self.assertEqual(submit.wait(timeout=60), 5)
        rows = []  # as the terminal shows them
        for piece in re.split(rb"(\x1b\[\d+A\x1b\[J|\r\n)", text):
            if up := re.fullmatch(rb"\x1b\[(\d+)A\x1b\[J", piece):
                del rows[-int(up.group(1)):]
            elif piece and piece != b"\r\n":
                rows.append(piece)
        self.assertTrue(any(row.startswith(b"interrupted: killing application_") for row in rows), rows)

    def test_submit_says_why_it_waits(self):
        # Two tasks that wait for each other, and one slot: it keeps its memory.
        (self.work / "marks").mkdir()
        keeper = self.ask("submit", "--detach", "--executors", "1", "--executor-memory", "1800m", BUILD / "tests/engine_faults", "meet", self.work / "marks", "2").stdout.strip()
        self.addCleanup(self.ask, "kill", keeper)
        submit = subprocess.Popen([FAIRLEAD, "submit", "--hadoop-conf", self.conf, "--executors", "1", "--executor-memory", "1800m", "--driver-memory", "1g",
                                   "--executors-min", "0", "--queue", "queue-of-its-own", BUILD / "examples/word_count", self.work / "text", self.work / "waits"],
                                  stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            for line in submit.stderr:
                if line.startswith("waits: "):
                    break
            else:
                self.fail("it never said why it waits")
            self.assertRegex(line, r"^waits: [A-Z_]+: .+")
            waiting = next(row for row in json.loads(self.ask("apps", "--json").stdout) if row["queue"] == "root.queue-of-its-own")["id"]
            held_up = self.ask("submit", "--detach", "--driver-memory", "1900m", BUILD / "examples/word_count", self.work / "text", self.work / "held-up").stdout.strip()
            self.addCleanup(self.ask, "kill", held_up)
            told = until(lambda: json.loads(self.ask("app", held_up, "--json").stdout)["diagnostics"], "it to say why it has no room", 30)
            self.assertRegex(told, r"^\[.+ \d{4}\] Application is added to the scheduler and is not yet activated\. .*Details : \S", "YARN's own field")
            for command in ("why", "app"):
                self.assertRegex(self.ask(command, waiting).stdout, r"\nPending +1 × [\d.]+ [MG]iB, 1 vcore, for \d+s\n +[A-Z_]+: \S")
        finally:
            submit.send_signal(signal.SIGINT)
            submit.communicate(timeout=60)

    def test_why_says_the_state_and_what_it_waits_for(self):
        app = self.finished_job()
        self.assertEqual(self.ask("why", app).stdout, "State        FINISHED: it waits for nothing any more\n")
        self.assertEqual(json.loads(self.ask("why", app, "--json").stdout), {"id": app, "state": "FINISHED", "pending": []})

    def test_the_future_can_be_asked_and_nothing_changes(self):
        (self.work / "asked").mkdir()
        options = ("--detach", "--executors", "1", "--executor-memory", "1800m")
        keeper = self.ask("submit", *options, BUILD / "tests/engine_faults", "meet", self.work / "asked", "2").stdout.strip()
        waits = self.ask("submit", *options, "--driver-memory", "1g", "--executors-min", "0", BUILD / "examples/word_count", self.work / "text", self.work / "after").stdout.strip()
        for app in (keeper, waits):
            self.addCleanup(self.ask, "kill", app)
        # What was foreseen before the one had its executor is told for a while, and so is the end of its executor until that has run for longer than all
        # that the user's jobs were seen to run: on a busy machine a minute or two.
        unknown = r"^1 × [\d.]+ [MG]iB, 1 vcore\n  the first  unknown\n  because    (unknown: of \d+ containers? nobody knows|not within 2 h)"
        until(lambda: re.search(unknown, self.ask("when", waits).stdout), "an unknown start", 240)
        shown = self.ask("what-if", "--kill", keeper, "--all")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, rf"(?m)^Only with the change 1 application gets a container within 2 h: {waits} \(")
        self.assertIn("nobody knows how long they run", shown.stdout)
        self.assertRegex(shown.stdout, rf"\n{waits} +\S+ +\S+ +root\.\S+ +- -> 0\.0 s ")
        self.assertRegex(self.ask("what-if", "--submit", "1x128MiB,1x1m@root.small").stdout, r"^The job ")
        self.assertRegex(self.ask("what-if", "--queue", "root.small.weight=9", "--lose-node", "127.0.0.2", "--for", "10m").stdout, r"\.\n$")
        for words, part in ((("--lose-node", "n9"), "no node n9 is in service"), (("--kill", "application_1_0001"), "no application application_1_0001 runs or waits"),
                            (("--move", "application_1_0001", "root.small", "--move", "application_1_0001=root.lab"), "no application application_1_0001 runs or waits"),
                            (("--for", "soon", "--drain", "127.0.0.2"), "'soon' is no time"), (("--for", "2d", "--drain", "127.0.0.2"), "for: a question looks ahead 1d at most"), (("--queue", "root.small.nosuch=1"), "nosuch")):
            shown = self.ask("what-if", *words)
            self.assertEqual(shown.returncode, 1, shown.stdout)
            self.assertIn(part, shown.stderr)
        shown = self.ask("what-if")
        self.assertEqual(shown.returncode, 2, shown.stdout)
        self.assertIn("name a change", shown.stderr)
        web = re.search(r"yarn.resourcemanager.webapp.address</name>\s*<value>([^<]+)", (pathlib.Path(self.conf) / "yarn-site.xml").read_text())[1]
        for text in ((pathlib.Path(self.conf) / "fair-scheduler.xml").read_text(), "<allocations><queue/></allocations>"):
            (self.work / "new.xml").write_text(text)
            shown = run("config", "check", "--against", web, self.work / "new.xml", "--no-queue-later-than", "1s")
            told = self.ask("what-if", "--queues-file", self.work / "new.xml", "--json")
            # By whatever ran here before it may be known how long the one runs.
            code = 1 if told.returncode else 6 if json.loads(told.stdout)["undecided"] else 0
            self.assertEqual(shown.returncode, code, shown.stdout + shown.stderr)
        self.assertEqual(code, 1)
        capacity = {"root.queues": "default", "root.default.capacity": "100"}
        (self.work / "other.xml").write_text("<configuration>" + "".join(f"<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>"
                                                                         for name, value in capacity.items()) + "</configuration>")
        shown = self.ask("what-if", "--queues-file", self.work / "other.xml")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, "^The file is one that profile yarn-capacity reads: it decides, with these queues\\.\n")
        self.assertIn("Not carried into the other profile: ", shown.stdout)
        shown = self.ask("what-if", "--queues-file", self.work / "other.xml", "--profile", "tdw")
        self.assertEqual(shown.returncode, 1, shown.stdout)
        self.assertIn("ask with --profile yarn-capacity --queues-file FILE", shown.stderr)
        self.assertEqual({row["id"]: row["state"] for row in json.loads(self.ask("apps", "--json").stdout)}[keeper], "RUNNING")

    def test_json_is_as_its_schema_says(self):
        done = self.finished_job()
        (self.work / "together").mkdir()
        options = ("--detach", "--executors", "1", "--executor-memory", "1800m")
        keeper = self.ask("submit", *options, BUILD / "tests/engine_faults", "meet", self.work / "together", "2").stdout.strip()
        waits = self.ask("submit", *options, "--driver-memory", "1g", "--executors-min", "0", BUILD / "examples/word_count", self.work / "text", self.work / "later").stdout.strip()
        for app in (keeper, waits):  # what goes wrong before the end holds up no other test
            self.addCleanup(self.ask, "kill", app)
        pending = until(lambda: json.loads(self.ask("why", waits, "--json").stdout)["pending"], "something that waits")
        self.assertEqual(differences(pending, {"type": "array", "items": {"$ref": "#/definitions/Pending"}}), [])
        asked = [("apps", "--all"), ("app", done), ("app", keeper), ("app", waits), ("why", waits), ("when", waits), ("what-if", "--kill", keeper), ("nodes",), ("queues",), ("queue show", "root.small"), ("events", "--limit", "1000"), ("status",),
                 ("history", done), ("queue set", "root.small", "weight=9", "--preview"), ("node drain", "127.0.0.2", "--no-wait"), ("nodes --reasons",), ("node undrain", "127.0.0.2"), ("kill", keeper),
                 ("submit", "--executors", "1", BUILD / "examples/word_count", self.work / "text", self.work / "at-once"), ("version",),
                 ("submit --detach", "--executors", "1", BUILD / "examples/word_count", self.work / "text", self.work / "at-once2"), ("top --once",), ("config check",),
                 ("config profiles",), ("config keys",), ("config names",), ("sim faults", "--seeds", "1"), ("state backup", self.work / "rm.db")]
        of_no_cluster = ("version", "config profiles", "config keys", "config names", "sim faults")
        for command, *words in asked:
            shown = self.ask(command, "--json", *words) if command not in of_no_cluster else run(*command.split(), "--json", *words)
            self.assertEqual(shown.returncode, 0, f"{command}: {shown.stderr}")
            told = json.loads(shown.stdout)
            self.assertEqual(differences(told, SCHEMA["commands"][command]), [], command)
            self.assertNotEqual(differences({"": 0}, SCHEMA["commands"][command]), [], command)  # it can fail
            if isinstance(told, list):
                self.assertTrue(told, command)
        elsewhere = {"node decommission", "node drain --at", "ha transfer", "state restore", "credentials make", "credentials list", "credentials revoke"}  # need another cluster
        self.assertEqual(set(SCHEMA["commands"]) - {command for command, *_ in asked}, elsewhere)

    def test_what_has_no_bound_is_null_and_what_has_ended_is_told(self):
        self.assertIsNone(json.loads(self.ask("queue show", "root", "--json").stdout)["max_share"])
        self.assertEqual({queue["max_share"] for queue in json.loads(self.ask("queues", "--json").stdout)["queues"] if queue["name"] == "root"}, {None})
        app = self.finished_job()
        self.assertEqual([event["kind"] for event in json.loads(self.ask("app", app, "--json").stdout)["ended"]], ["ended"] * 2)

    def test_an_application_shows_how_its_containers_ended(self):
        shown = self.ask("app", self.finished_job()).stdout
        self.assertRegex(shown, r"\nPriority     0\n")
        self.assertRegex(shown, r"\nHistory      fairlead history application_\d+_\d+\n")
        self.assertEqual(len(re.findall(r"^Ended +container_\S+ on \S+:\d+: \S", shown, re.M)), 2, shown)
        self.assertNotIn("Diagnostics", shown)

    def test_logs_of_executors_after_the_end(self):
        app = self.finished_job()
        shown = self.ask("logs", app, "--file", "stderr")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(shown.stdout.count("==> container_"), 2, "the driver's and an executor's: " + shown.stdout)
        shown = self.ask("logs", app, "--file", "nosuch")
        self.assertEqual(shown.returncode, 4)
        self.assertIn("has no nosuch; it has", shown.stderr)
        self.assertIn("stdout", shown.stderr)

    def test_logs_show_the_lines_that_hold_a_text(self):
        app = self.finished_job()
        shown = self.ask("logs", app, "--file", "events.jsonl", "--grep", "stage_started")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual([line.partition(":")[0] for line in shown.stdout.splitlines()[1:]], ['{"stage_started"'] * 2)
        self.assertEqual(self.ask("logs", app, "--file", "events.jsonl", "--grep", "stage_started", "-f").stdout, shown.stdout)
        last = self.ask("logs", app, "--file", "events.jsonl", "--grep", "stage_started", "--tail", "1")
        self.assertEqual(last.stdout.splitlines()[1:], shown.stdout.splitlines()[-1:], last.stderr)
        shown = self.ask("logs", app, "--grep", "no such text")
        self.assertEqual((shown.returncode, shown.stdout), (1, ""))
        self.assertIn(f"no line of {app} holds 'no such text'", shown.stderr)

    def test_ends_are_told_in_words(self):
        ends = {"exit 3": "exit status 3", "kill -SEGV $$": "exit status 139: SIGSEGV, Segmentation fault", "kill -KILL $$": "exit status 137: SIGKILL, Killed",
                "exec /nosuch": "exit status 127: its program was not found", "exec /etc/passwd": "exit status 126: its program may not be run",
                "exec python3 -c 'import time; held = bytes(1) * (400 << 20); time.sleep(600)'": "used more memory than it asked for"}
        begun = self.work / "begun"
        os.mkfifo(begun)
        killed = f"echo > {begun}; exec cat {begun}"  # nobody writes again
        ends[killed] = "ended with its application"
        apps = {script: self.ask("submit", "--detach", "--max-attempts", "1", "--driver-memory", "64m", "/bin/sh", "-c", script).stdout.strip() for script in ends}
        begun.read_text()  # until its container writes
        waited = self.ask("kill", apps[killed])
        self.assertEqual(waited.returncode, 0, waited.stderr)
        for script, words in ends.items():
            with self.subTest(script):
                ended = until(lambda: re.search(r"^Ended +container_\S+ on \S+: (.*)$", self.ask("app", apps[script]).stdout, re.M), "its end", 90)
                self.assertEqual(ended.group(1).partition(";")[0], words)

    def test_what_has_ended_holds_nothing(self):
        app = self.finished_job()
        row = next(row for row in json.loads(self.ask("apps", "--all", "--json").stdout) if row["id"] == app)
        self.assertEqual((row["containers"], row["used"]), (0, {"memoryMib": 0, "vcores": 0}))

    def test_tail_shows_the_last_lines_and_follow_ends_with_the_application(self):
        app = self.finished_job()
        lines = self.ask("logs", app, "--file", "events.jsonl").stdout.splitlines()[1:]
        self.assertGreater(len(lines), 2)
        shown = self.ask("logs", app, "--file", "events.jsonl", "--tail", "2", "-f")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(shown.stdout.splitlines()[1:], lines[-2:])

    def test_an_application_shows_its_attempts_with_their_ends_in_words(self):
        shown = self.ask("app", self.finished_job())
        self.assertRegex(shown.stdout, r"Attempt +appattempt_\S+ FINISHED on \S+:\d+\n +master container_")

    def test_completion_knows_ids_and_queues(self):
        app = self.finished_job()
        self.assertIn(app, self.ask("values", "apps").stdout.split())
        self.assertNotIn(app, self.ask("values", "active").stdout.split())
        self.assertIn("root.small", self.ask("values", "queues").stdout.split())

    def test_options_after_the_job_are_noted(self):
        shown = self.ask("submit", "--detach", BUILD / "examples/word_count", self.work / "text", self.work / "o", "--queue", "small")
        self.assertIn("--queue stands after the job", shown.stderr)

    def test_what_fits_on_no_node_is_refused_before_anything_runs(self):
        before = self.ask("apps", "--all", "--json").stdout
        for options, what in ((("--executor-memory", "99g"), "an executor of 99 GiB and 1 core"), (("--executor-cores", "77"), "77 cores"), (("--driver-memory", "9g"), "a driver of 9 GiB and 1 core")):
            shown = self.ask("submit", *options, "/bin/true")
            self.assertEqual(shown.returncode, 2, shown.stderr)
            self.assertRegex(shown.stderr, what + r".* fits nowhere: the largest container of this cluster has 2 GiB and \d+ cores?; ask for less")
        self.assertEqual(self.ask("apps", "--all", "--json").stdout, before)

    def test_a_misspelt_queue_is_told(self):
        shown = self.ask("submit", "--detach", "--queue", "smal", BUILD / "examples/word_count", self.work / "text", self.work / "o2")
        self.assertIn("there is no queue 'smal' yet; did you mean 'small'?", shown.stderr)
        shown = self.ask("submit", "--detach", "--queue", "small", BUILD / "examples/word_count", self.work / "text", self.work / "o3")
        self.assertEqual(shown.stderr, "")

    def test_metrics_say_how_long_steps_take(self):
        self.finished_job()
        page = re.search(r"page +http://(\S+?)/", (self.work / "up.log").read_text()).group(1)
        text = urllib.request.urlopen(f"http://{page}/metrics", timeout=10).read().decode()
        for name in ("step", "allocate", "store_commit"):
            self.assertGreater(float(re.search(rf"^fairlead_rm_{name}_seconds_sum (\S+)$", text, re.M).group(1)), 0, name)

    def test_nodes_show_the_release_that_their_agents_tell(self):
        known = {node["id"]: node["version"] for node in self.cluster_says("nodes")["nodes"]}
        self.assertTrue(known)
        self.assertEqual({node["id"]: node["version"] for node in json.loads(self.ask("nodes", "--json").stdout)}, known)
        head, *rows = self.ask("nodes").stdout.splitlines()
        at = head.split().index("HADOOP")
        for node, version in known.items():
            row = next(row for row in rows if row.startswith(node + " "))
            self.assertEqual(row[head.index("HADOOP"):].split()[0], version, (at, row))

    def test_a_node_tells_of_the_shuffle_service_inside_it(self):
        for node in json.loads(self.ask("nodes", "--json").stdout):
            if node["state"] != "RUNNING":
                continue
            with urllib.request.urlopen(f"http://{node['httpAddress']}/metrics", timeout=30) as answer:
                text = answer.read().decode()
            self.assertRegex(text, r"(?m)^fairlead_nm_registered 1$")
            self.assertRegex(text, r"(?m)^# HELP fairlead_shuffle_registeredExecutorsSize .+\n# TYPE \S+ gauge\nfairlead_shuffle_registeredExecutorsSize 0$")
            self.assertEqual(len(re.findall(r"(?m)^# HELP process_threads ", text)), 1)

    def test_monitors_of_hadoop_find_configuration_and_numbers(self):
        self.finished_job()
        page = re.search(r"page +http://(\S+?)/", (self.work / "up.log").read_text()).group(1)
        nodes = [node["httpAddress"] for node in json.loads(self.ask("nodes", "--json").stdout)]
        def read(address, path, accept="application/json"):
            with urllib.request.urlopen(urllib.request.Request(f"http://{address}{path}", headers={"Accept": accept}), timeout=10) as answer:
                return answer.read().decode()
        for address in (page, nodes[0]):
            keys = [one["key"] for one in json.loads(read(address, "/conf"))["properties"]]
            self.assertTrue(keys and keys == sorted(keys), keys)
            self.assertEqual(json.loads(read(address, f"/conf?name={keys[0]}"))["property"]["key"], keys[0])
            self.assertIn(f"<name>{keys[0]}</name><value>", read(address, "/conf", "*/*"))
            with self.assertRaises(urllib.error.HTTPError) as refused:
                read(address, "/conf?name=none")
            self.assertEqual(refused.exception.code, 404)
            for path, words in (("/stacks", "This is no Java program."), ("/logLevel", "--log-level debug"), ("/logs", "--log-file")):
                self.assertIn(words, read(address, path))
        for address, service in ((page, "ResourceManager"), (nodes[0], "NodeManager")):
            jvm, = json.loads(read(address, f"/jmx?qry=Hadoop:service={service},name=JvmMetrics"))["beans"]
            self.assertGreater(jvm["MemHeapUsedM"], 0)
            self.assertEqual((jvm["tag.ProcessName"], jvm["GcTimeMillis"]), (service, 0))
        bean, = json.loads(read(page, "/jmx?qry=Hadoop:service=ResourceManager,name=QueueMetrics,q0=root"))["beans"]
        self.assertEqual(bean["AppsRunning"], sum(bean[f"running_{since}"] for since in (0, 60, 300, 1440)), bean)
        self.assertLessEqual(bean["ActiveUsers"], bean["ActiveApplications"])
        self.assertGreaterEqual(bean["AggregateContainersAllocated"], 2, bean)
        self.assertEqual(bean["AggregateContainersAllocated"] - bean["AggregateContainersReleased"], bean["AllocatedContainers"], bean)
        self.assertGreaterEqual(bean["AppsSubmitted"], bean["AppsCompleted"] + bean["AppsRunning"], bean)
        user = getpass.getuser()
        own, = json.loads(read(page, f"/jmx?qry=Hadoop:service=ResourceManager,name=QueueMetrics,q0=root,user={user}"))["beans"]
        self.assertEqual((own["tag.User"], own["tag.Queue"], own["AllocatedMB"]), (user, "root", bean["AllocatedMB"]), own)
        for count in ("AppsSubmitted", "AppsCompleted", "AppsRunning", "AllocatedContainers", "AggregateContainersAllocated", "running_0"):
            self.assertEqual(own[count], bean[count], count)  # nobody else is there
        bean, = json.loads(read(nodes[0], "/jmx?qry=Hadoop:service=NodeManager,name=NodeManagerMetrics"))["beans"]
        self.assertGreater(bean["AvailableGB"], 0)
        self.assertEqual(set(json.loads(read(page, "/ws/v1/cluster/userinfo?user.name=ann")).values()), {getpass.getuser(), "ann"})

    def test_rest_answers_as_its_document_says(self):
        done = self.finished_job()
        root = re.search(r"page +(http://\S+?)/", (self.work / "up.log").read_text()).group(1) + "/fairlead/v1"
        def read(path):
            with urllib.request.urlopen(root + path, timeout=10) as answer:
                self.assertTrue(answer.headers["Content-Type"].startswith("application/json"), path)
                return json.loads(answer.read())
        ids = {"/apps": done, "/nodes": read("/nodes")["nodes"][0]["id"]}
        asked = 0
        openapi = read("/openapi.json")
        for path, methods in openapi["paths"].items():
            if "get" not in methods or "servers" in methods or path in ("/openapi.json", "/credentials", "/pass"):  # the last two: with fairlead.auth=credentials
                continue
            shown = read(path.replace("{id}", ids.get("/" + path.split("/")[1], "")).replace("{document}", f"nodes?at={read('/past')['to_ms']}"))
            schema = methods["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            self.assertEqual(differences(shown, schema, path, openapi), [])
            self.assertNotEqual(differences([], schema, path, openapi), [], "it can fail")
            asked += 1
        self.assertEqual(asked, 12)

    def test_an_unknown_address_of_hadoops_rest_is_hadoops_404(self):
        page = re.search(r"page +http://(\S+?)/", (self.work / "up.log").read_text()).group(1)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://{page}/ws/v1/cluster/nosuch", timeout=10)
        self.assertEqual(refused.exception.code, 404)
        self.assertNotIn("RemoteException", refused.exception.read().decode())

    def test_top_prints_one_picture(self):
        shown = self.ask("top", "--once")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for word in ("memory [", "QUEUE", "root.small", "APPLICATION", "NODE", " running, 0 draining"):
            self.assertIn(word, shown.stdout)
        self.assertEqual(self.ask("top").returncode, 2)  # no terminal

    def test_long_names_and_other_letters_keep_columns(self):
        (self.work / "names").mkdir()
        for name in ("ä" * 500, "ä"):  # a name may have 1 KiB
            app = self.ask("submit", "--detach", "--executors", "1", "--name", name, BUILD / "tests/engine_faults", "meet", self.work / "names", "9").stdout.strip()
            self.addCleanup(self.ask, "kill", app)
        for words in (("apps",), ("top", "--once")):
            lines = self.ask(*words).stdout.splitlines()
            header = next(line for line in lines if re.match("ID|APPLICATION", line))
            rows = [line for line in lines if line.startswith("application_1")]
            self.assertGreaterEqual(len(rows), 2)
            for row in rows:
                self.assertNotEqual(row[header.index("USER")], " ")
                self.assertEqual(row[header.index("USER") - 1], " ")
                self.assertLess(len(row), 400)
            self.assertTrue(any("ä…" in row for row in rows))
        self.assertRegex(self.ask("top", "--once").stdout, r"\napplications \d+ running, \d+ pending; ")

    def test_a_narrow_top_shows_state_and_reason_first(self):
        out, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 60, 0, 0))
        top = subprocess.Popen([FAIRLEAD, "top", "--hadoop-conf", self.conf], stdout=terminal, stderr=terminal)
        os.close(terminal)
        text = b""
        while b"Ctrl-C ends it" not in text:
            text += os.read(out, 65536)
        top.send_signal(signal.SIGINT)
        self.assertEqual(top.wait(timeout=30), 0)
        os.close(out)
        self.assertRegex(text.decode(), r"APPLICATION +STATE +WAITS FOR")

    def test_watched_rows_stand_below_their_header(self):
        for words in (("apps", "-w"), ("events", "-f", "--queue", "root.watched")):
            if words[0] == "events":  # the queue has to be there
                self.ask("submit", "--queue", "watched", "--executors", "1", BUILD / "examples/word_count", self.work / "text", self.work / "watched")
            watch = subprocess.Popen([FAIRLEAD, *words, "--hadoop-conf", self.conf], stdout=subprocess.PIPE, text=True)
            header = watch.stdout.readline()
            self.ask("submit", "--queue", "watched", "--executors", "1", BUILD / "examples/word_count", self.work / "text", self.work / f"watched-{words[0]}")
            row = watch.stdout.readline()
            watch.send_signal(signal.SIGINT)
            watch.communicate(timeout=30)
            self.assertEqual((row[header.index("QUEUE") - 1], row[header.index("QUEUE"):].split()[0]), (" ", "root.watched"), header + row)

    def test_top_is_live_on_a_terminal_and_leaves_it_as_it_was(self):
        out, terminal = pty.openpty()
        top = subprocess.Popen([FAIRLEAD, "top", "--hadoop-conf", self.conf, "--interval", "1"], stdout=terminal, stderr=terminal)
        os.close(terminal)
        text = b""
        while text.count(b"\x1b[H") < 2:
            text += os.read(out, 65536)
        top.send_signal(signal.SIGINT)
        try:
            while part := os.read(out, 65536):
                text += part
        except OSError:  # the other side is closed
            pass
        self.assertEqual(top.wait(timeout=30), 0)
        os.close(out)
        self.assertTrue(text.startswith(b"\x1b[?1049h\x1b[?25l"))
        self.assertTrue(text.endswith(b"\x1b[?25h\x1b[?1049l"))

    def test_at_a_terminal_a_command_says_which_page_shows_the_same(self):
        app = self.finished_job()
        pages = {("apps", "--queue", "root.small"): "/cluster?queue=root.small", ("why", app): f"/cluster/app/{app}", ("queues",): "/cluster/scheduler", ("nodes",): "/cluster/nodes",
                 ("events", "--app", app, "--kind", "ended"): f"/cluster/events?app={app}&kind=ended"}
        for command, page in pages.items():
            out, terminal = pty.openpty()
            shown = subprocess.run([FAIRLEAD, *command, "--hadoop-conf", self.conf], stdout=terminal, stderr=subprocess.PIPE, text=True, timeout=60)
            os.close(terminal)
            os.close(out)
            said = re.search(rf"^as a page: (http://\S+:\d+{re.escape(page)})\n\Z", shown.stderr, re.MULTILINE)
            self.assertTrue(said, shown.stderr)
            self.assertEqual(urllib.request.urlopen(said[1], timeout=30).status, 200)
            self.assertNotIn("as a page", self.ask(*command).stderr)
        self.assertRegex(self.ask("app", app).stdout, rf"Page +http://\S+/cluster/app/{app}\n")

    def test_watched_applications_go_on_until_interrupted(self):
        watch = subprocess.Popen([FAIRLEAD, "apps", "-w", "--hadoop-conf", self.conf], stdout=subprocess.PIPE, text=True)
        self.assertIn("CONTAINERS", watch.stdout.readline())
        app = self.finished_job()
        for line in watch.stdout:
            if app in line and "SUCCEEDED" in line:
                break
        watch.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(timeout=30), 0)
        watch.stdout.close()

    def test_watching_ends_where_nothing_can_be_written(self):
        app = self.finished_job()
        for words in (("nodes", "--json"), ("apps", "-w"), ("events", "-f"), ("events", "-f", "--json"), ("logs", app), ("top", "--once"), ("node", "drain", "127.0.0.77", "--help")):
            with open("/dev/full", "w") as full:
                shown = subprocess.run([FAIRLEAD, *words, "--hadoop-conf", self.conf], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual((shown.returncode, shown.stderr), (1, f"fairlead {words[0]}: cannot write the output: No space left on device\n"))

    def test_a_web_port_that_does_not_answer_is_not_taken_for_hadoops(self):
        app = self.finished_job()
        nobody = ("--set", "yarn.resourcemanager.webapp.address=127.0.0.1:1")
        for words in (("why", app), ("app", app), ("app", app, "--json"), ("queues",), ("nodes", "--reasons")):
            shown = self.ask(*words, *nobody)
            self.assertEqual((shown.returncode, shown.stdout), (3, ""), words)
            self.assertIn("the resource manager's web port does not answer: Connection refused", shown.stderr)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as hadoops:  # 404 to what only Fairlead has
            hadoops.RequestHandlerClass.log_message = lambda *_: None
            threading.Thread(target=hadoops.serve_forever, daemon=True).start()
            shown = self.ask("queues", "--set", f"yarn.resourcemanager.webapp.address=127.0.0.1:{hadoops.server_port}")
            hadoops.shutdown()
        self.assertRegex(shown.stdout, r"^QUEUE +STATE +CAPACITY")

    def test_events_tell_of_an_application(self):
        app = self.finished_job()
        shown = self.ask("events", "--app", app)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"granted +container_")
        self.assertRegex(shown.stdout, r"ended +container_\S+ .*(succeeded|ended with)")
        self.assertIn(f"{app} is FINISHED", shown.stdout)

    def test_filters_take_short_names_and_refuse_what_is_not_there(self):
        shown = self.ask("submit", "--executors", "1", "--queue", "small", BUILD / "examples/word_count", self.work / "text", self.work / "in-small")
        app = re.search(r"application_\d+_\d+", shown.stderr).group()
        for words in (("apps", "-a", "--queue", "small"), ("apps", "-a", "--queue", "root.small"), ("events", "--queue", "small", "--limit", "1000")):
            self.assertIn(app, self.ask(*words).stdout, words)
        granted = json.loads(self.ask("events", "--app", app, "--kind", "granted", "--json").stdout)["events"][0]["node"]
        for node in (granted, granted.rpartition(":")[0]):
            told = json.loads(self.ask("events", "--node", node, "--limit", "1000", "--json").stdout)["events"]
            self.assertIn(app, [event.get("app") for event in told])
            self.assertEqual([event["number"] for event in told], sorted((event["number"] for event in told), reverse=True))
        for words, what in ((("events", "--queue", "nosuch"), "there is no queue nosuch; there are root"), (("events", "--node", "nosuch"), "there is no node nosuch; there are "),
                            (("events", "--app", "application_1_1"), "application_1_"), (("apps", "--queue", "nosuch", "--json"), "there is no queue nosuch")):
            shown = self.ask(*words)
            self.assertEqual((shown.returncode, shown.stdout), (4, ""), words)
            self.assertIn(what, shown.stderr)

    def test_a_node_is_drained_and_taken_back(self):
        def state():
            lines = [line for line in self.ask("nodes").stdout.splitlines() if line.startswith("127.0.0.2:")]
            return sorted({line.split()[1] for line in lines})
        self.assertIn("RUNNING", state())
        shown = self.ask("node drain", "127.0.0.2")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"^127\.0\.0\.2:\d+ DECOMMISSIONED\n$")
        self.assertIn("0 containers left", shown.stderr)
        self.assertNotIn("RUNNING", state())
        self.assertEqual([out["host"] for out in self.cluster_says("nodes")["drained"]], ["127.0.0.2"])
        agent = pathlib.Path(self.conf).parent / "logs/nm2.log"
        ended = agent.read_text()
        time.sleep(3)  # nobody tries to start it while it is out: there is no event to wait for
        self.assertEqual(agent.read_text(), ended)
        self.assertRegex(self.ask("events", "--kind", "action").stdout, r"node 127\.0\.0\.2:\d+ is drained by ")
        self.assertRegex(self.ask("nodes", "--reasons").stdout, r"\n127\.0\.0\.2:\d+ +DECOMMISSIONED +20\d\d-\S+ \d\d:\d\d:\d\d +\S+ from 127\.0\.0\.1 +\S")
        shown = self.ask("node undrain", "127.0.0.2")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"^127\.0\.0\.2:\d+ is taken back; its node agent has ended, start it again\n")
        if "DECOMMISSIONED" in (told := self.ask("nodes", "--reasons").stdout):  # `up` may have started it by now
            self.assertIn("its host is taken out no more", told)
        until(lambda: "RUNNING" in state(), "`up` to start it")
        told = (self.work / "up.log").read_text()
        self.assertIn("nm2 was taken out and has ended; it is back soon after 'fairlead node undrain'\n", told)
        self.assertIn("nm2 was taken back\n", told)
        self.assertEqual(self.ask("node drain", "nosuch").returncode, 4)

    def test_an_interrupted_drain_tells_how_far_it_came(self):
        (self.work / "kept").mkdir()
        keeper = self.ask("submit", "--detach", "--executors", "1", BUILD / "tests/engine_faults", "meet", self.work / "kept", "2").stdout.strip()
        self.addCleanup(self.ask, "kill", keeper)
        running = until(lambda: self.cluster_says(f"apps/{keeper}")["running"], "a container that runs")
        node = running[0]["node"]
        self.addCleanup(self.ask, "node undrain", node)
        drain = subprocess.Popen([FAIRLEAD, "node", "drain", node, "--json", "--hadoop-conf", self.conf], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertRegex(drain.stderr.readline(), rf"^{re.escape(node)} DECOMMISSIONING, [1-9]\d* containers? left\n")
        drain.send_signal(signal.SIGINT)
        out, said = drain.communicate(timeout=60)
        self.assertEqual(drain.returncode, 0)
        self.assertEqual(json.loads(out), [{"id": node, "state": "DECOMMISSIONING"}])
        self.assertIn(f"'fairlead node undrain {node}' takes it back", said)

    def test_a_queue_is_changed_in_its_file(self):
        file = pathlib.Path(self.conf) / "fair-scheduler.xml"
        before = file.read_text()
        shown = self.ask("queue set", "small", "weight=3", "--preview")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("+   <queue name=\"small\"><weight>3</weight></queue>", shown.stdout)
        self.assertEqual(file.read_text(), before)
        shown = self.ask("queue set", "small", "wieght=3")
        self.assertEqual(shown.returncode, 2)
        self.assertIn("did you mean 'weight'?", shown.stderr)
        self.assertEqual(self.ask("queue set", "small", "weight=heavy").returncode, 2)
        shown = self.ask("queue set", "small", "priority=7", "--preview")
        self.assertEqual(shown.returncode, 2)
        self.assertIn("it would have no effect: profile fairlead passes over priority", shown.stderr)
        other = self.work / "other.xml"
        other.write_text(before)
        shown = self.ask("queue set", "small", "weight=4", "--file", other)
        self.assertIn(f"not in use: the resource manager has its queues from {file}\n", shown.stdout)
        self.assertEqual(file.read_text(), before)
        shown = self.ask("queue set", "small", "weight=3")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertTrue(shown.stdout.endswith("in use\n"), shown.stdout)
        self.assertEqual(pathlib.Path(f"{file}.before").read_text(), before)
        self.assertRegex(self.ask("queue show", "root.small").stdout, r"Weight +3")

    def test_a_changed_file_of_queues_is_warned_of_as_at_a_start(self):
        file = pathlib.Path(self.conf) / "fair-scheduler.xml"
        before = file.read_text()
        self.addCleanup(file.write_text, before)
        file.write_text(before.replace("</allocations>", "<queue name='later'><wieght>3</wieght></queue></allocations>"))
        log = pathlib.Path(self.conf).parent / "logs/rm.log"
        until(lambda: "did you mean 'weight'?" in log.read_text(), "the warning", 30)
        self.assertEqual(self.ask("queue show", "root.later").returncode, 0)

    def cluster_says(self, address):
        page = re.search(r"page +http://(\S+?)/", (self.work / "up.log").read_text()).group(1)
        with urllib.request.urlopen(f"http://{page}/fairlead/v1/{address}", timeout=10) as answer:
            return json.loads(answer.read())

    def test_a_host_that_is_not_out_cannot_be_taken_back(self):
        self.assertEqual(self.put("nodes/127.0.0.77/state", {"state": "RUNNING"})[0], 404)

    def test_a_journal_tells_what_was_decided(self):
        app = self.finished_job()
        journal = pathlib.Path(self.conf).parent / "rm/rm.journal"
        container = f"container{app.removeprefix('application')}_01_000001"
        def decisions():
            shown = run("replay", "--decisions", journal)
            return re.search(rf"  ended  {container}  .*  succeeded", shown.stdout) and shown

        shown = until(decisions, "the end in the journal, which is written behind", 30)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, rf"  granted  {container}  root\.\S+  \S+:\d+  \d+ MiB, \d+ vc  ")
        self.assertRegex(shown.stdout, rf"  state  {app}  .*is RUNNING")

    def past(self, *words):
        return run("replay", pathlib.Path(self.conf).parent / "rm", *words)

    def story_of(self, app):
        """Once its end is in the journal, which is written behind."""
        def ended():
            story = json.loads(self.past("--story", app, "--json").stdout)
            return story["ended"] and story

        return until(ended, "its end in the journal", 30)

    def test_a_journal_tells_an_application_s_life(self):
        app = self.finished_job()
        story = self.story_of(app)
        what = [part["what"] for part in story["story"]]
        expected = [r"\S+ submitted it to root\.\S+: word_count, FAIRLEAD", r"its master is granted on \S+:\d+, .* vc", "its master has registered: it runs",
                    r"\d+ containers? of .* granted on 1 node|\d+ containers? of .* granted on \S+:\d+", "it ends FINISHED, SUCCEEDED"]
        for words in expected:
            self.assertTrue(any(re.match(words, part) for part in what), (words, what))
        self.assertEqual(sorted(part["fromMs"] for part in story["story"]), [part["fromMs"] for part in story["story"]])
        self.assertGreaterEqual(story["granted"], 1)
        shown = self.past("--story", app)
        self.assertRegex(shown.stdout, rf"^{app}\n\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d  \S+ submitted it to ")
        self.assertRegex(shown.stdout, r"\nIn all: \d+ containers? granted, 0 taken back, ")
        shown = self.past("--story", app[:-4] + "9999")
        self.assertEqual(shown.returncode, 4)
        self.assertRegex(shown.stderr, r"is in nothing that is kept: \S+ has \d+ files? from ")

    def test_a_journal_shows_the_cluster_as_it_was(self):
        app = self.finished_job()
        ran = next(part["fromMs"] for part in self.story_of(app)["story"] if part["what"].startswith("its master has registered"))
        shown = self.past("--at", ran, "--apps")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, rf"{app} .* RUNNING ")
        self.assertIn("as of ", shown.stderr)
        self.assertNotIn(app, self.past("--at", "-0s", "--apps").stdout)
        self.assertRegex(self.past("--at", "-0s", "--apps", "--all").stdout, rf"{app} .* FINISHED ")
        for part, live in (("--apps", "apps"), ("--nodes", "nodes"), ("--queues", "queues")):
            then, now = self.past("--at", ran, part), self.ask(live)
            self.assertEqual(then.stdout.split("\n")[0].split(), now.stdout.split("\n")[0].split())
            then, now = self.past("--at", ran, part, "--json"), self.ask(live, "--all" if live == "apps" else "--json", "--json")
            first = [shown[0] if isinstance(shown, list) else shown["queues"][0] for shown in (json.loads(then.stdout), json.loads(now.stdout))]
            self.assertEqual(*[list(one) for one in first])
        self.assertRegex(self.past("--at", ran, "--why", app).stdout, r"^State +RUNNING\n")
        self.assertRegex(self.past("--at", ran).stdout, r"^2 nodes, 1 application running and 0 pending, \d+ containers?, ")
        self.assertEqual(json.loads(self.past("--at", ran, "--json").stdout)["appsRunning"], 1)
        self.assertEqual(self.past("--at", ran, "--why", app[:-4] + "9999").returncode, 4)

    def test_the_pages_can_be_told_of_then(self):
        app = self.finished_job()
        ran = next(part["fromMs"] for part in self.story_of(app)["story"] if part["what"].startswith("its master has registered"))
        kept = self.cluster_says("past")
        self.assertLess(kept["from_ms"], ran)
        self.assertGreaterEqual(kept["to_ms"], ran)
        then = self.cluster_says(f"past/apps?at={ran}&group=running")
        self.assertEqual([(one["id"], one["state"]) for one in then["apps"]], [(app, "RUNNING")])
        self.assertEqual(self.cluster_says(f"past/apps?at={ran}&group=ended&text={app}")["total"], 0)
        self.assertEqual(self.cluster_says(f"past/cluster?at={ran}")["apps"].get("RUNNING"), 1)
        for name in ("cluster", "nodes", "queues"):
            now = self.cluster_says(name)
            self.assertLessEqual(set(self.cluster_says(f"past/{name}?at={ran}")), set(now), name)
        self.assertEqual({one["id"] for one in self.cluster_says(f"past/nodes?at={ran}")["nodes"]}, {one["id"] for one in self.cluster_says("nodes")["nodes"]})
        for address, status, words in (("past/apps?at=1", 404, "is not kept"), ("past/nothing?at=" + str(ran), 404, "there is no nothing"),
                                       ("past/--help?at=" + str(ran), 404, "there is no --help"), ("past/apps", 400, "milliseconds"),
                                       ("past/apps?at=-5", 400, "milliseconds"), ("past/apps?at=99999999999999999999", 400, "milliseconds"),
                                       (f"past/apps?at={2**63 - 1}", 400, "is no moment")):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.cluster_says(address)
            self.assertEqual(refused.exception.code, status, address)
            self.assertIn(words, json.loads(refused.exception.read())["error"], address)

    def test_a_look_into_the_past_ends_with_whoever_asked(self):
        page = re.search(r"page +http://([^/:]+):(\d+)/", (self.work / "up.log").read_text())
        never = pathlib.Path(self.conf).parent / "rm/rm.journal.999999"
        os.mkfifo(never)  # nobody writes, so who reads the journal waits
        self.addCleanup(never.unlink)

        def reader():
            found = subprocess.run(["pgrep", "-f", f"replay {never.parent}/.*--document=nodes"], capture_output=True, text=True, timeout=10)
            return [int(word) for word in found.stdout.split()]
        with socket.create_connection(page.groups(), timeout=10) as asker:
            asker.sendall(f"GET /fairlead/v1/past/nodes?at=17 HTTP/1.1\r\nHost: {page[1]}:{page[2]}\r\n\r\n".encode())
            process = os.pidfd_open(until(reader, "the process that reads")[0])
        self.addCleanup(os.close, process)
        self.assertTrue(select.select([process], [], [], 15)[0], "it goes on")

    def test_what_a_journal_cannot_tell_is_said(self):
        self.finished_job()
        shown = self.past("--at", "2001-01-01")
        self.assertEqual(shown.returncode, 4)
        self.assertRegex(shown.stderr, r"2001-01-01 00:00:00 is not kept: \S+ has \d+ files? from 20\S+ \S+ to 20")
        self.assertEqual(self.past("--at", "2101-01-01").returncode, 4)
        for words in (["--at", "soon"], ["--queues"], ["--at", "-0s", "--nodes", "--apps"], ["--at", "-0s", "--story", "x"], ["--story", "x"]):
            self.assertEqual(self.past(*words).returncode, 2, words)
        self.assertEqual(run("replay", self.work / "nowhere", "--at", "-0s").returncode, 4)
        self.assertIn("nor is it a profile; did you mean 'yarn-fair'?", self.past("--diff", "yarn-far").stderr)
        journal = (pathlib.Path(self.conf).parent / "rm/rm.journal").read_bytes()
        damaged = self.work / "damaged.journal"
        records = [8]  # where each begins: its length, a checksum, so many bytes
        while (behind := records[-1] + 8 + int.from_bytes(journal[records[-1]:records[-1] + 4], "big")) < len(journal):
            records.append(behind)
        wrong = records[len(records) // 2] + 12
        damaged.write_bytes(journal[:wrong] + bytes([journal[wrong] ^ 1]) + journal[wrong + 1:])
        shown = run("replay", damaged, "--story", "application_1_0001")
        self.assertEqual(shown.returncode, 4)
        self.assertRegex(shown.stderr, r"damaged\.journal has 1 file from 20.* to 20.*; from 20\S+ \S+ on nothing is kept: \S+damaged\.journal: record \d+ at byte \d+ cannot be read: ")
        self.assertRegex(run("replay", damaged, "--at", "-0s").stderr, r" is not kept: \S+ has 1 file from 20.*; from 20\S+ \S+ on nothing is kept: ")
        damaged.write_bytes(b"FLJRNL01" + journal[8:])
        self.assertIn("a journal of release 0.1.0, which alone can replay it", run("replay", damaged, "--at", "-0s").stderr)

    def test_a_journal_is_a_trace(self):
        self.story_of(self.finished_job("--queue", "lab"))
        shown = self.past("--diff", "yarn-fair", "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        report = json.loads(shown.stdout)
        self.assertGreaterEqual(report["jobs"], 1)
        self.assertEqual((report["nodes"], report["from"]["name"], report["to"]["name"]), (2, "fairlead", "yarn-fair 3.4.3"))
        self.assertTrue(any("in the journal itself" in note for note in report["from"]["notes"]), report["from"]["notes"])
        queues = pathlib.Path(self.conf) / "fair-scheduler.xml"
        shown = self.past("--diff", queues)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"\nfrom: fairlead \(from\), \S+/rm\nto:   fairlead \(to\), \S+/fair-scheduler\.xml\n")
        self.assertEqual(self.past("--diff", "nosuch").returncode, 4)
        shown = run("sim", "compare", pathlib.Path(self.conf).parent / "rm/rm.journal", "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual({one["nodes"] for one in json.loads(shown.stdout)["runs"]}, {2})

    def test_four_reports_have_the_same_words(self):
        self.story_of(self.finished_job("--queue", "lab"))
        journal = pathlib.Path(self.conf).parent / "rm"
        slow = self.work / "slow.xml"  # one container at a time, so that a word count ends later
        slow.write_text("<allocations><queue name='lab'><maxResources>256 mb, 1 vcores</maxResources></queue></allocations>")
        who = r"\S+ \((\S.* )?of \S+, root\.\S+\)"
        served = r"is served (later|sooner): (\d+ of )?\d+ (application|job)s?, by (at least )?\d.* on the mean\."
        words = "|".join((r"\d+ (application|job)s? (is|are) served (later|sooner), by \d.* at most\.", rf"{who} (ends|has what it waits for) \d.* (later|sooner), (in|after) \d.*\.",
                          r"Only (without the change|with the change|under \S.*) \d+ (application|job)s? (ends?|gets? (a container|containers))( within \d+ \S+)?(: .*)?\.",
                          rf"(Queue|User) \S+ {served}( The first container comes after .*)?", r"(From|Of) .* \d+ containers? more (is|are) taken back\.", r"\d+ containers? more ends? before time\.",
                          r"(In \d.* a|A) limit (begins to bind|does not bind any more) in root\.\S+: .*\.", r"(Nothing|Nothing else) is different( within \d+ \S+)?\.",
                          r"Of the memory \d+ % are in use in the mean, instead of \d+ %\."))
        own = {"what-if": r"The job in |Of \d+ container|\d+ applications? still wait", "replay": "Under |Queue .*, asked for by ", "sim migrate": "Under |Queue .*, asked for by "}
        for command, asked, file in (("what-if", ("--submit", "8x1GiB,1x10m@root.small", "--drain", "127.0.0.2", "--hadoop-conf", self.conf), "report.json"),
                                     ("replay", (journal, "--diff", slow), "report.json"), ("sim compare", ("tdw", "--scale", "0.0005", "--hours", "1", "--nodes", "4"), "results.json"),
                                     ("sim migrate", ("--from", slow, "--to", "tdw", "--trace", journal), "report.json")):
            with self.subTest(command=command), tempfile.TemporaryDirectory() as out:
                shown = run(*command.split(), *asked, "--out", out)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                text, page, numbers = ((pathlib.Path(out) / name).read_text() for name in ("report.txt", "report.html", file))
                self.assertRegex(shown.stdout, f"\nwritten: {out}/report.html, report.txt, {file}(, \\S+)*\n$")
                document = json.loads(numbers)
                sentences = document["sentences"] if "sentences" in document else [one for each in document["runs"][1:] for one in each["sentences"]]
                self.assertTrue(sentences)
                for sentence in sentences:
                    self.assertIn(sentence + "\n", text)
                    self.assertIn(html.escape(sentence, quote=False), page.replace("&quot;", '"').replace("&#39;", "'"))
                    self.assertRegex(sentence, f"^({own.get(command, 'Under ')}|({words})$)")
                self.assertEqual("<table>" in page, command != "what-if", "nothing runs or waits")

    def test_a_replay_shows_how_far_it_is(self):
        self.finished_job()
        out, terminal = pty.openpty()
        replay = subprocess.Popen([FAIRLEAD, "replay", pathlib.Path(self.conf).parent / "rm/rm.journal"], stdout=subprocess.PIPE, stderr=terminal)
        os.close(terminal)
        self.assertRegex(replay.communicate(timeout=60)[0].decode(), r"^\d+ batches with \d+ events replayed")
        self.assertRegex(os.read(out, 65536).decode(), r"replay +\[[# ]{30}\] +\d+ %  \d+ of \d+ bytes.*\r\x1b\[K$")
        os.close(out)

    def put(self, address, body, root="fairlead/v1"):
        page = re.search(r"page +http://(\S+?)/", (self.work / "up.log").read_text()).group(1)
        request = urllib.request.Request(f"http://{page}/{root}/{address}", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"}, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def test_a_queue_is_changed_by_rest_after_a_look(self):
        file = pathlib.Path(self.conf) / "fair-scheduler.xml"
        before = file.read_text()
        status, shown = self.put("queues/root.lab/settings", {"settings": {"maxRunningApps": "11"}})
        self.assertEqual((status, shown["file"]), (200, str(file)), shown)
        self.assertIn("<maxRunningApps>11</maxRunningApps>", shown["differs"])
        self.assertEqual(file.read_text(), before)
        status, done = self.put("queues/root.lab/settings", {"settings": {"maxRunningApps": "11"}, "version": shown["version"]})
        self.assertEqual(status, 200, done)
        self.assertIn("<maxRunningApps>11</maxRunningApps>", file.read_text())
        self.assertEqual(pathlib.Path(f"{file}.before").read_text(), before)
        self.assertIn("settings of queue root.lab are changed", self.ask("events", "--kind", "action").stdout)
        status, late = self.put("queues/root.lab/settings", {"settings": {"maxRunningApps": "12"}, "version": shown["version"]})
        self.assertEqual((status, late["error"]), (409, "the file has changed since; look at what would differ now"))
        for settings, why in (({"wieght": "1"}, "did you mean 'weight'?"), ({"weight": "heavy"}, "would be refused"), ({"weight": 2}, "to be a text"),
                              ({}, "settings"), ("weight", "settings")):
            status, refused = self.put("queues/root.lab/settings", {"settings": settings})
            self.assertEqual(status, 400, settings)
            self.assertIn(why, refused["error"])

    def test_events_tell_what_was_done_and_not_what_was_refused(self):
        app = self.finished_job()
        status, refused = self.put(f"apps/{app}/queue", {"queue": "elsewhere"}, "ws/v1/cluster")
        self.assertEqual(status, 400, refused)
        self.assertNotIn("elsewhere", self.ask("events", "--kind", "action").stdout)

    def test_applications_of_a_queue_that_is_not_there(self):
        shown = self.ask("apps", "--queue", "nosuch")
        self.assertEqual((shown.returncode, shown.stdout), (4, ""))
        self.assertIn("there is no queue nosuch; there are root, ", shown.stderr)
        shown = self.ask("apps", "--queue", "small", "--state", "FAILED")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_a_queue_shows_itself(self):
        shown = self.ask("queue show", "small")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"Queue +root\.small\n")
        self.assertEqual(self.ask("queue show", "nosuch").returncode, 4)

    def test_queues_say_what_they_may_have_at_most(self):
        shown = self.ask("queues")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("AT MOST", shown.stdout.splitlines()[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
