#!/usr/bin/env python3
"""Attacks on a node agent by those who may submit applications: each is one that was, or could be, tried for root's rights, another
user's data, or the end of the node. Real daemons; most cases need root, since they run containers as users of the machine."""
import http.server
import json
import os
import pathlib
import platform
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as lab  # noqa: E402
import peers  # noqa: E402
import registers  # noqa: E402
import registry  # noqa: E402
import strangers  # noqa: E402
from waiting import until  # noqa: E402

peers.BINARY = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build")) / "fairlead"
LCE = "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor"
EVE, ANN, AGENT = "fl-eve", "fl-ann", "fl-agent"
SECRET = "only root may read this"


class Node(unittest.TestCase):
    """A resource manager and one node whose containers run as their submitters."""
    keys = {}

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can run containers as their submitters")
        for user in (EVE, ANN, AGENT):
            subprocess.run(["useradd", "--no-create-home", user], check=True)
            cls.addClassCleanup(subprocess.run, ["userdel", user], check=True)

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-adversary-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.directory.chmod(0o755)
        self.secret = self.directory / "secret"
        self.secret.write_text(SECRET)
        self.secret.chmod(0o600)
        self.victim = self.directory / "victim"
        self.victim.mkdir(mode=0o700)
        (self.victim / "kept").write_text(SECRET)
        self.eves = self.directory / "eve"
        self.eves.mkdir()
        shutil.chown(self.eves, EVE, EVE)
        self.cluster = lab.Cluster(self.directory / "cluster", registry.Spec(nodes=("fairlead",), yarn_site=tuple({
            "yarn.nodemanager.container-executor.class": LCE,
            "yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users": "false",
            **self.keys}.items())))
        self.addCleanup(self.cluster.stop)
        self.cluster.write()
        self.prepare()
        self.cluster.start_rm()
        self.cluster.start_nm(1)
        self.cluster.wait_for_nodes(1)
        self.nm = self.cluster.processes["nm1"].pid
        self.local, self.logs = self.cluster.directory / "nm1-local", self.cluster.directory / "nm1-logs"

    def prepare(self):
        pass

    def post(self, path, body, user):
        request = urllib.request.Request(f"http://127.0.0.1:{self.cluster.web}/ws/v1/cluster/{path}?user.name={user}",
                                         json.dumps(body).encode(), {"Content-Type": "application/json", "Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"{}")

    def submit(self, user, script="true", resources=(), attempts=1):
        """Starts an application whose master is a script; resources: (name, url, visibility, type)."""
        app = self.post("apps/new-application", {}, user)["application-id"]
        file = self.directory / f"{app}.sh"
        file.write_text("#!/bin/bash\n" + script + "\n")
        file.chmod(0o755)
        entries = []
        for name, url, visibility, kind in resources:
            path = url.removeprefix("file:")
            stamp = int(os.stat(path).st_mtime * 1000) if os.path.exists(path) else 0
            entries.append({"key": name, "value": {"resource": url, "type": kind, "visibility": visibility, "size": 5, "timestamp": stamp}})
        self.post("apps", {
            "application-id": app, "application-name": "attack", "max-app-attempts": attempts, "resource": {"memory": 256, "vCores": 1},
            "am-container-spec": {"commands": {"command": f"/bin/bash {file}"}, "local-resources": {"entry": entries}}}, user)
        return app

    def end(self, app, seconds=60):
        """Its last report; an application of a script fails, since the script is no master."""
        def ended():
            seen = self.cluster.app(app)
            return seen if seen["state"] in ("FINISHED", "FAILED", "KILLED") else None
        return until(ended, f"the end of {app}", seconds)

    def run_as(self, user, script, **kwargs):
        return self.end(self.submit(user, script, **kwargs))

    def assert_node_lives(self, seconds=10):
        """The same agent still starts another user's containers, soon."""
        mark = self.directory / "marks"
        mark.mkdir(exist_ok=True)
        mark.chmod(0o777)
        name = mark / str(time.monotonic_ns())
        self.submit(ANN, f"id -un > {name}")
        until(lambda: name.exists() and name.read_text() == ANN + "\n", "another user's container", seconds)
        self.assertIsNone(self.cluster.processes["nm1"].poll(), "the node agent has ended")
        self.assertEqual(self.cluster.processes["nm1"].pid, self.nm)

    def assert_victim_is_safe(self):
        self.assert_victim_is_safe_with("kept")

    def assert_victim_is_safe_with(self, *names):
        info = self.victim.stat()
        self.assertEqual((info.st_uid, info.st_mode & 0o7777), (0, 0o700))
        self.assertEqual(sorted(entry.name for entry in self.victim.iterdir()), sorted(names))
        self.assertEqual((self.victim / "kept").stat().st_uid, 0)

    def change(self, app, state):
        request = urllib.request.Request(f"http://127.0.0.1:{self.cluster.web}/ws/v1/cluster/apps/{app}/state?user.name=root",
                                         json.dumps({"state": state}).encode(), {"Content-Type": "application/json"}, method="PUT")
        urllib.request.urlopen(request, timeout=10).close()

    def errands(self, user):
        """Processes that do something among a user's files."""
        return subprocess.run(["pgrep", "-x", "-u", user, "fl-errand"], capture_output=True, text=True, check=False).stdout.split()

    def child(self, parent, name):
        """The only child with this name."""
        return int(until(lambda: subprocess.run(["pgrep", "-x", "-P", str(parent), name], capture_output=True, text=True,
                                                check=False).stdout.strip(), name))

    def status(self, pid):
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        return dict(line.split(":\t", 1) for line in lines if ":\t" in line)

    def container(self, app):
        return app.replace("application", "container") + "_01_000001"

    def page(self, path):
        port = self.cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"][0]["nodeHTTPAddress"]
        try:
            with urllib.request.urlopen(f"http://{port}{path}", timeout=20) as answer:
                return answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.read().decode(errors="replace")

    def file(self, name, text="hello"):
        path = self.directory / name
        path.write_text(text)
        path.chmod(0o644)
        return path


class Rights(Node):
    refused = ("nobody", "PUBLIC resources are fetched")

    def test_a_container_has_its_users_rights_alone(self):
        report = self.eves / "report"
        token = self.submit(ANN, f"cp container_tokens {self.directory}/marks 2>/dev/null; sleep 20")
        private = self.local / "usercache" / ANN / "appcache" / token / self.container(token)
        until(lambda: (private / "container_tokens").exists(), "the other's container")
        self.run_as(EVE, f"id -un > {report}; grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs)' /proc/self/status >> {report}; umask >> {report};"
                         f"cat {private}/container_tokens {self.secret} {self.local}/nmPrivate/* {self.logs}/{token}/*/* >> {report};"
                         f"ls {private} {self.local}/nmPrivate >> {report}; cat /sys/fs/cgroup/pids/hadoop-yarn/*/pids.max >> {report}")
        lines = report.read_text().splitlines()
        self.assertEqual(lines[:6], [EVE, "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "0027"])
        self.assertLessEqual(set(lines[6:]), {"8192"}, "it reads what is not its own")

    def test_system_accounts_root_and_the_agents_are_refused(self):
        for user, why in (("root", "do not run as root"), ("daemon", "min.user.id"), ("bin", "banned.users"), self.refused, ("no-such-user", "not found")):
            with self.subTest(user):
                self.assertIn(why, self.run_as(user, "true")["diagnostics"])

    def test_the_agent_keeps_no_right_that_it_does_not_need(self):
        app = self.submit(EVE, "sleep 30")
        until(lambda: (self.local / "usercache" / EVE / "appcache" / app).exists(), "the container")
        status = self.status(self.nm)
        for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[capabilities], 16), 0, capabilities)
        self.assertEqual(status["NoNewPrivs"], "1")
        # The one process with root's rights lacks those that administer the machine.
        helper = self.child(self.nm, "fl-helper")
        status = self.status(helper)
        for number, name in ((12, "net_admin"), (16, "sys_module"), (17, "sys_rawio"), (19, "sys_ptrace"), (21, "sys_admin"), (27, "mknod")):
            self.assertFalse(int(status["CapEff"], 16) >> number & 1, name)
        self.assertEqual(int(status["CapBnd"], 16), 0)
        self.assertEqual(status["Seccomp"], "2")
        # What containers descend from may become users and signal them, and that is all; its list is theirs, too.
        starter = self.child(helper, "fl-starter")
        status = self.status(starter)
        self.assertEqual(int(status["CapEff"], 16), 1 << 5 | 1 << 6 | 1 << 7)  # kill, setgid, setuid
        self.assertEqual((int(status["CapBnd"], 16), status["Seccomp"], status["NoNewPrivs"]), (0, "2", "1"))
        self.assertEqual(status["Uid"].split(), self.status(self.nm)["Uid"].split())
        status = self.status(self.child(starter, "fl-supervise"))
        self.assertEqual((int(status["CapEff"], 16), int(status["CapBnd"], 16), status["Seccomp"]), (1 << 5, 0, "2"))

    @unittest.skipUnless(platform.machine() == "x86_64", "the registers of another machine")
    def test_any_other_call_ends_the_helper(self):
        done = self.eves / "done"
        go = self.eves / "go"
        os.mkfifo(go, 0o644)
        app = self.submit(EVE, f"read word < {go}; touch {done}")
        until(lambda: (self.local / "usercache" / EVE / "appcache" / app).exists(), "the container")
        helper = self.child(self.nm, "fl-helper")
        starter = self.child(helper, "fl-starter")
        supervisor = self.child(starter, "fl-supervise")
        until(lambda: self.status(supervisor)["Seccomp"] == "2", "the container's start")
        self.assertEqual(registers.make_call(helper, registers.PERSONALITY), -signal.SIGSYS)
        until(lambda: not pathlib.Path(f"/proc/{starter}").exists(), "the starter's end")
        fifo = os.open(go, os.O_RDWR)  # waits for no reader
        self.addCleanup(os.close, fifo)
        os.write(fifo, b"go\n")
        until(done.exists, "the end of the container, which goes on")


class Links(Node):
    def test_1a_no_directory_behind_a_link_is_given_away(self):
        self.run_as(EVE, "true", resources=[("a", f"file:{self.file('a')}", "PRIVATE", "FILE")])
        own = self.local / "usercache" / EVE
        for name in ("filecache", "appcache"):
            with self.subTest(name):
                self.run_as(EVE, f"cd {own}; mv {name} old-{name}; ln -s {self.victim} {name}")
                self.run_as(EVE, "true", resources=[(f"b{name}", f"file:{self.file('b' + name)}", "PRIVATE", "FILE")])
                self.assert_victim_is_safe()
                self.assertEqual(self.local.stat().st_uid, pathlib.Path(f"/proc/{self.nm}").stat().st_uid)

    def test_1b_nothing_is_written_behind_a_link(self):
        app = self.submit(EVE, f"cd ..; next=${{CONTAINER_ID/_01_0/_02_0}}; [ -e $next ] || ln -s {self.victim} $next;"
                               f"cd {self.logs}/*/; [ -e $next ] || ln -s {self.victim} $next; exit 1", attempts=2)
        self.end(app)
        # The user's next application, whose whole tree he has prepared.
        number = int(app.rsplit("_", 1)[1]) + 1
        following = f"{app.rsplit('_', 1)[0]}_{number:04}"
        cache = self.local / "usercache" / EVE / "appcache"
        self.run_as(EVE, f"ln -s {self.victim} {cache}/{app[:-4]}{number + 1:04}; ln -s {self.victim} {self.logs}/{following}")
        self.run_as(EVE, "true")
        self.assert_victim_is_safe()
        self.assert_node_lives()

    def test_1c_removal_stays_below(self):
        self.run_as(EVE, f"ln -s {self.victim} tmp/link; rm -rf tmp; ln -s {self.victim} tmp; cd ..; mv $CONTAINER_ID gone; ln -s {self.victim} $CONTAINER_ID;"
                         f"cd ../..; ln -s {self.victim} more; mkdir -p deep; cd deep; for i in $(seq 300); do mkdir d; cd d; done")
        self.assert_node_lives()
        self.assert_victim_is_safe()

    def test_names_that_are_exchanged_meanwhile_lead_nowhere(self):
        """A directory and a link to another's, each a moment under the other's name, while resources, logs and ends of files are read."""
        swap = ("import ctypes, sys; libc = ctypes.CDLL(None)\n"
                "while True:\n for a, b in zip(sys.argv[1::2], sys.argv[2::2]): libc.renameat2(-100, a.encode(), -100, b.encode(), 2)\n")
        (self.eves / "swap.py").write_text(swap)
        shutil.copy(self.secret, self.victim / "stderr")
        own = self.local / "usercache" / EVE
        pairs = [(own / name, own / f"{name}-link") for name in ("filecache", "appcache")]
        app = self.submit(EVE, f"cd {self.logs}/*/; ln -s {self.victim} l; cd {own}; mkdir -p filecache; for n in filecache appcache; do ln -s {self.victim} $n-link; done;"
                               f"/usr/bin/python3 {self.eves}/swap.py {' '.join(str(path) for pair in pairs for path in pair)} {self.logs}/*/$CONTAINER_ID {self.logs}/*/l &"
                               f"touch {self.eves}/done; sleep 60")
        until((self.eves / "done").exists, "the master")
        for path in (own / "filecache", own / "appcache"):
            until(path.is_symlink, "the exchange")
            until(lambda p=path: not p.is_symlink(), "the exchange back")
        for i in range(6):
            seen = self.run_as(EVE, f"cd {self.logs}/*/$CONTAINER_ID; ln -s {self.secret} stderr; exit 4", resources=[(f"r{i}", f"file:{self.file(f'r{i}')}", "PRIVATE", "FILE")])
            self.assertNotIn(SECRET, seen["diagnostics"])
            for _ in range(20):
                for path in ("stderr", "kept"):
                    self.assertNotIn(SECRET, self.page(f"/ws/v1/node/containerlogs/{self.container(app)}/{path}"))
        self.change(app, "KILLED")
        self.end(app)
        self.assert_victim_is_safe_with("kept", "stderr")
        self.assert_node_lives()

    def test_2a_the_end_of_a_roots_file_is_not_told(self):
        for name in ("prelaunch.err", "my-stderr"):
            with self.subTest(name):
                seen = self.run_as(EVE, f"cd {self.logs}/*/$CONTAINER_ID; rm -f {name}; ln -s {self.secret} {name}; exit 3")
                self.assertIn("exitCode: 3", seen["diagnostics"])
                self.assertNotIn(SECRET, seen["diagnostics"])

    def test_2b_pages_show_no_directory_behind_a_link(self):
        shutil.copy(self.secret, self.victim / "stdout")
        app = self.submit(EVE, f"cd {self.logs}/*/; mv $CONTAINER_ID old; ln -s {self.victim} $CONTAINER_ID; touch {self.eves}/done; sleep 60")
        until((self.eves / "done").exists, "the link")
        container = self.container(app)
        for path in (f"/node/containerlogs/{container}/{EVE}", f"/node/containerlogs/{container}/{EVE}/stdout?start=0",
                     f"/ws/v1/node/containers/{container}/logs", f"/ws/v1/node/containerlogs/{container}/stdout", f"/ws/v1/node/containers/{container}",
                     "/ws/v1/node/containers"):
            text = self.page(path)
            self.assertNotIn(SECRET, text, path)
            self.assertNotIn("kept", text, path)

    def test_2b_pages_show_a_users_own_logs(self):
        app = self.submit(EVE, f"cd {self.logs}/*/$CONTAINER_ID; echo my words > stdout; touch {self.eves}/done; sleep 60")
        until((self.eves / "done").exists, "the log")
        self.assertIn("my words", self.page(f"/ws/v1/node/containerlogs/{self.container(app)}/stdout"))
        self.assertIn("my words", self.page(f"/node/containerlogs/{self.container(app)}/{EVE}/stdout?start=0"))
        self.assertIn("stdout", self.page(f"/ws/v1/node/containers/{self.container(app)}"))

    def test_2c_2d_public_is_what_everybody_may_read(self):
        tree = self.eves / "tree"
        tree.mkdir()
        (tree / "link").symlink_to(self.secret)
        (self.eves / "link").symlink_to(self.victim / "kept")
        (self.victim / "kept").chmod(0o644)
        self.run_as(EVE, f"cat tree/link > {self.eves}/seen", resources=[("tree", f"file:{tree}", "PUBLIC", "FILE")])
        self.run_as(EVE, f"cat link > {self.eves}/seen", resources=[("link", f"file:{self.eves}/link", "PUBLIC", "FILE")])
        seen = self.eves / "seen"
        self.assertNotIn(SECRET, seen.read_text() if seen.exists() else "")
        found = subprocess.run(["grep", "-rl", SECRET, str(self.local)], capture_output=True, text=True, check=False).stdout
        self.assertEqual(found, "")

    def test_a_public_resource_is_there_for_all(self):
        path = self.file("public", "for all")
        for user in (EVE, ANN):
            self.run_as(user, f"cat public > {self.directory}/marks-{user}", resources=[("public", f"file:{path}", "PUBLIC", "FILE")])
        self.assertEqual(len(list((self.local / "filecache").iterdir())), 1)


class Harm(Node):
    def test_3a_4b_14_resources_that_never_end(self):
        loops = self.eves / "loops"
        loops.mkdir()
        for name in ("one", "two"):
            (loops / name).symlink_to(".")
        for i in range(9):
            os.mkfifo(self.eves / f"pipe{i}", 0o644)
        apps = [self.submit(EVE, resources=[("r", f"file:{self.eves}/pipe{i}", "PRIVATE" if i % 2 else "PUBLIC", "FILE")]) for i in range(9)]
        apps += [self.submit(EVE, resources=[("r", "file:/dev/zero", visibility, "FILE")]) for visibility in ("PRIVATE", "PUBLIC", "APPLICATION")]
        apps += [self.submit(EVE, resources=[("r", f"file:{loops}", "APPLICATION", "FILE")])]
        self.assert_node_lives()
        for app in apps:
            self.end(app)

    def test_3b_a_pattern_or_archive_ends_no_agent(self):
        bomb = self.directory / "bomb.zip"
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
            for i in range(1500):
                archive.writestr("d/" * 200 + str(i), "")
        self.end(self.submit(EVE, resources=[("r", f"file:{bomb}", "PRIVATE", "ARCHIVE")]))
        self.end(self.submit(EVE, resources=[("r", f"file:{self.file('not.zip')}", "PRIVATE", "ARCHIVE")]))
        self.assert_node_lives()

    def test_3c_4a_error_files_that_never_end(self):
        for make in ("ln -s /dev/zero {}", "mkfifo {}", "mkdir {}", "ln -s {} {}", "truncate -s 1T {}"):
            for name in ("prelaunch.err", "stderr"):
                with self.subTest(make=make, name=name):
                    line = make.format(name, name)
                    app = self.submit(EVE, f"cd {self.logs}/*/$CONTAINER_ID; rm -f {name}; {line}; exit 5")
                    self.assertIn("exitCode: 5", self.end(app)["diagnostics"])
        self.assert_node_lives()

    def test_4c_a_server_that_drips_holds_nobody_else(self):
        class Drip(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                try:
                    while True:
                        self.wfile.write(b"x")
                        self.wfile.flush()
                        time.sleep(0.5)
                except OSError:
                    pass

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Drip)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        for i in range(8):
            self.submit(EVE, resources=[("r", f"http://127.0.0.1:{server.server_port}/f{i}", "PRIVATE", "FILE")])
        self.assert_node_lives()
        # Who no longer wants it ends it.
        self.assertIn(len(self.errands(EVE)), range(1, 5), "one user holds more than his share")
        for seen in self.cluster.apps():
            if seen["user"] == EVE:
                self.change(seen["id"], "KILLED")
        until(lambda: not self.errands(EVE), "the end of the fetches", 20)
        for i in range(8):
            self.submit(EVE, resources=[("r", f"http://127.0.0.1:{server.server_port}/again{i}", "PRIVATE", "FILE")])
        until(lambda: self.errands(EVE), "a fetch")
        # Nor does the agent wait for it.
        started = time.monotonic()
        os.kill(self.nm, signal.SIGTERM)
        self.cluster.processes.pop("nm1").wait(timeout=10)
        self.assertLess(time.monotonic() - started, 10)

    def test_links_in_the_way_of_pages_and_logs_hold_nobody(self):
        app = self.submit(EVE, f"cd {self.logs}/*/$CONTAINER_ID; mkfifo stdout; ln -s /dev/zero stderr; for i in $(seq 2000); do echo > f$i; done;"
                               f"touch {self.eves}/done; sleep 60")
        until((self.eves / "done").exists, "the logs")
        for path in ("stdout", "stderr", "f1"):
            self.page(f"/ws/v1/node/containerlogs/{self.container(app)}/{path}")
        self.assert_node_lives()


    def test_logs_of_control_characters_and_without_end_hold_nobody(self):
        """A page of them has several times their bytes, and an errand among a user's files brings 16 MiB."""
        app = self.submit(EVE, f"cd {self.logs}/*/$CONTAINER_ID; head -c 3M /dev/zero > zeros; head -c 40M /dev/zero | tr '\\0' '\\1' > ones; truncate -s 1T endless;"
                               f"touch {self.eves}/done; sleep 60")
        until((self.eves / "done").exists, "the logs")
        container = self.container(app)
        host, port = self.cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"][0]["nodeHTTPAddress"].rsplit(":", 1)
        daemon = strangers.Daemon(self.cluster.processes["nm1"], (host, int(port)), self.cluster.directory / "nm1.log")
        for name, shown in (("zeros", 3 << 20), ("ones", 4 << 20), ("endless", 4 << 20)):
            with self.subTest(name):
                pages = []
                reader = threading.Thread(target=lambda: pages.append(self.page(f"/node/containerlogs/{container}/{EVE}/{name}/?start=0")))
                reader.start()
                while reader.is_alive():
                    daemon.require_answer()
                reader.join()
                self.assertEqual(pages[0].count("\\u000"), shown)
                text = self.page(f"/ws/v1/node/containerlogs/{container}/{name}")
                self.assertIn("LogLength:", text)
                self.assertEqual("more: fairlead logs " + app in text, name != "zeros")


class OwnUser(Rights, Links):
    """The agent as an unprivileged user beside its helper."""
    keys = {"fairlead.nm.user": AGENT}
    refused = (AGENT, "own user")

    def test_the_agent_is_that_user(self):
        self.assertEqual(pathlib.Path(f"/proc/{self.nm}").stat().st_uid, pwd.getpwnam(AGENT).pw_uid)
        self.assertEqual(self.local.stat().st_uid, pwd.getpwnam(AGENT).pw_uid)

    def test_it_comes_back_to_its_containers(self):
        app = self.submit(EVE, f"touch {self.eves}/up; until [ -e {self.eves}/go ]; do sleep 0.05; done; exit 6")
        until((self.eves / "up").exists, "the container")
        self.cluster.restart("nm1")
        self.nm = self.cluster.processes["nm1"].pid
        (self.eves / "go").touch()
        self.assertIn("exitCode: 6", self.end(app)["diagnostics"])


class Rules(Node):
    """Hadoop's container-executor.cfg."""

    def prepare(self):
        (self.cluster.node_conf(1) / "container-executor.cfg").write_text(
            f"# as Hadoop ships it\nyarn.nodemanager.linux-container-executor.group=x\nbanned.users={ANN},bin\nmin.user.id=500\nallowed.system.users=daemon\n")

    def test_they_hold(self):
        self.assertIn("banned.users", self.run_as(ANN, "true")["diagnostics"])
        self.assertIn("exitCode: 7", self.run_as("daemon", "exit 7")["diagnostics"])
        self.assertIn("min.user.id 500", self.run_as("sys", "true")["diagnostics"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
