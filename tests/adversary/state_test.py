#!/usr/bin/env python3
"""State that is damaged, lost, full, open or somebody else's, met by the real daemons: acknowledged work comes back whole, or the start
is refused with the file's name, what is lost and what to do."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request

import shuffle_peer

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
from peers import free_ports  # noqa: E402
from waiting import until  # noqa: E402

BINARY = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build")) / "fairlead"
SECONDS = 60
STRANGER = 12345  # a user's number


class State(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-state-"))
        self.state = self.top / "state"
        self.daemons = []
        self.addCleanup(self.clean_up)
        self.client, self.scheduler, self.tracker, self.admin, self.web, self.shuffle, self.shuffle_web = free_ports(7)

    def clean_up(self):
        for daemon in self.daemons:
            if daemon.poll() is None:
                daemon.kill()
            daemon.communicate()
        shutil.rmtree(self.top, ignore_errors=True)

    def command(self, name):
        keys = {
            "yarn.resourcemanager.address": f"127.0.0.1:{self.client}",
            "yarn.resourcemanager.scheduler.address": f"127.0.0.1:{self.scheduler}",
            "yarn.resourcemanager.resource-tracker.address": f"127.0.0.1:{self.tracker}",
            "yarn.resourcemanager.admin.address": f"127.0.0.1:{self.admin}",
            "yarn.resourcemanager.webapp.address": f"127.0.0.1:{self.web}",
            "hadoop.tmp.dir": self.top / "tmp",
        }
        if name == "rm":
            keys["fairlead.rm.state-dir"] = self.state
        if name == "nm":
            keys.update({"yarn.nodemanager.hostname": "127.0.0.1", "yarn.nodemanager.address": "127.0.0.1:0",
                         "yarn.nodemanager.webapp.address": "127.0.0.1:0", "yarn.nodemanager.recovery.dir": self.state,
                         "yarn.nodemanager.local-dirs": self.top / "local", "yarn.nodemanager.log-dirs": self.top / "logs"})
        if name == "shuffle":
            return [BINARY, "shuffle", "--port", self.shuffle, "--web-port", self.shuffle_web, "--state", self.state, "--local-roots", self.top]
        return [BINARY, name, *(word for key, value in keys.items() for word in ("--set", f"{key}={value}"))]

    def start(self, name="rm", umask=0o022):
        """Starts a daemon; gives it when it is ready, or its last words when it refuses to start."""
        log = self.top / f"{name}-{len(self.daemons)}.log"
        with open(log, "wb") as out:
            daemon = subprocess.Popen([str(word) for word in self.command(name)], stdout=out, stderr=out, umask=umask)
        self.daemons.append(daemon)
        daemon.log = log
        ready = {"rm": "the resource manager is ready", "nm": "node agent starts", "shuffle": "Serving shuffle blocks"}[name]
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            ended = daemon.poll() is not None
            text = log.read_text()  # after that: its last words are there
            if ended:
                self.assertEqual(daemon.returncode, 1, text)
                return text
            if ready in text:
                return daemon
            time.sleep(0.02)
        raise AssertionError(f"{name} neither started nor ended: {log.read_text()}")

    def assert_started(self, started):
        self.assertIsInstance(started, subprocess.Popen, started)
        return started

    def assert_refused(self, started, *words):
        self.assertIsInstance(started, str, "it started")
        for word in words:
            self.assertIn(str(word), started)

    def end(self, daemon, how=signal.SIGKILL):
        daemon.send_signal(how)
        daemon.wait(SECONDS)

    def rest(self, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.web}/ws/v1/cluster{path}{'&' if '?' in path else '?'}user.name=alice",
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"}, method="GET" if body is None else "POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return json.loads(text) if text else {}

    def submit(self):
        """An application that is acknowledged and waits for a node."""
        app = self.rest("/apps/new-application", {})["application-id"]
        self.rest("/apps", {"application-id": app, "application-name": "waits", "application-type": "TEST",
                            "am-container-spec": {"commands": {"command": "sleep 1"}}, "resource": {"memory": 256, "vCores": 1}})
        deadline = time.monotonic() + SECONDS
        while self.rest(f"/apps/{app}")["app"]["state"] not in ("SUBMITTED", "ACCEPTED"):
            self.assertLess(time.monotonic(), deadline, "the application is not acknowledged")
            time.sleep(0.02)
        return app

    def apps(self):
        return {app["id"] for app in ((self.rest("/apps")["apps"] or {}).get("app") or [])}

    def a_killed_manager_with(self, count):
        daemon = self.assert_started(self.start())
        apps = {self.submit() for _ in range(count)}
        self.end(daemon)
        return apps

    def files(self):
        return {path: path.read_bytes() for path in self.state.iterdir() if path.is_file()}

    def put_back(self, files):
        for path in self.state.iterdir():
            if path.is_file():
                path.unlink()
        for path, content in files.items():
            path.write_bytes(content)
            path.chmod(0o600)


class Damage(State):
    def test_what_was_acknowledged_comes_back_after_a_kill(self):
        apps = self.a_killed_manager_with(3)
        self.assert_started(self.start())
        self.assertEqual(self.apps(), apps)

    def test_flipped_bytes_are_refused_or_harmless(self):
        apps = self.a_killed_manager_with(3)
        whole = self.files()
        self.assert_flips_are_told("rm", "fairlead-rm.db", whole, lambda daemon: self.assertEqual(self.apps(), apps))

    def assert_flips_are_told(self, name, database, whole, assert_all_is_there):
        refused = 0
        for path in (self.state / database, self.state / f"{database}-wal", self.state / f"{database}.mark"):
            content = whole.get(path, b"")
            places = [at for at in range(len(content)) if content[at]]
            for at in places[::max(1, len(places) // 12)]:
                self.put_back({**whole, path: content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1:]})
                started = self.start(name)
                if isinstance(started, str):
                    refused += 1
                    self.assertIn(str(path).removesuffix("-wal"), started)
                    self.assertRegex(started, "backup|remove this file")
                else:
                    with self.subTest(daemon=name, file=path.name, byte=at):
                        assert_all_is_there(started)
                    self.end(started)
        self.assertGreater(refused, 10)

    def test_flipped_bytes_of_shuffle_registrations(self):
        daemon = self.assert_started(self.start("shuffle"))
        with socket.create_connection(("127.0.0.1", self.shuffle), 10) as peer:
            for executor in range(1, 4):
                shuffle_peer.register(peer, executor, self.top)
                shuffle_peer.await_answer(peer, executor)
        self.end(daemon)
        self.assert_flips_are_told("shuffle", "shuffle.db", self.files(), lambda daemon: self.assertIn(" executors=3 ", daemon.log.read_text()))

    def test_flipped_bytes_of_a_node_agents_state(self):
        daemon = self.assert_started(self.start("nm"))
        deadline = time.monotonic() + SECONDS
        while b"nm_port" not in self.files()[self.state / "fairlead-nm.db-wal"]:
            self.assertLess(time.monotonic(), deadline, "nothing is stored")
            time.sleep(0.02)
        port = re.search(r"node=localhost:(\d+)", daemon.log.read_text()).group(1)
        self.end(daemon)
        # It keeps its port: it listens there again, or tells that another program of this machine took that very port meanwhile.
        kept = rf"node=localhost:{port}\b|the port of the last run is taken.* port={port}\b"
        self.assert_flips_are_told("nm", "fairlead-nm.db", self.files(), lambda daemon: self.assertRegex(daemon.log.read_text(), kept))

    def test_an_emptied_or_removed_database_is_no_new_cluster(self):
        self.a_killed_manager_with(1)
        whole = self.files()
        database = self.state / "fairlead-rm.db"
        for lost in ("empty", "missing", "alone"):
            self.put_back(whole)
            if lost == "empty":
                database.write_bytes(b"")
            elif lost == "missing":
                database.unlink()
            else:
                (self.state / "fairlead-rm.db-wal").unlink()
            self.assert_refused(self.start(), database, "applications that were acknowledged", "backup")
        shutil.rmtree(self.state)
        self.assert_started(self.start())  # what the operator removes is gone on purpose

    def test_a_cut_database_is_refused(self):
        daemon = self.assert_started(self.start())
        for _ in range(4):
            self.submit()
        self.end(daemon, signal.SIGTERM)  # a database without a log
        whole = self.files()
        database = self.state / "fairlead-rm.db"
        for part in (0.2, 0.4, 0.6):  # what is behind that is a table without rows
            self.put_back({**whole, database: whole[database][:int(len(whole[database]) * part)]})
            self.assert_refused(self.start(), database, "is damaged", "backup")

    def test_damaged_keys_and_epoch_are_refused(self):
        self.end(self.assert_started(self.start()), signal.SIGTERM)
        whole = self.files()
        for table in (b"rm/key", b"rm/epoch"):
            self.put_back(whole)
            database = sqlite3.connect(self.state / "fairlead-rm.db")
            changed = database.execute("UPDATE rows SET value = x'00' WHERE tab = ?", (table,)).rowcount
            database.commit()
            database.close()
            self.assertGreater(changed, 0)
            self.assert_refused(self.start(), table.decode(), "does not match its checksum", "backup")

    def test_a_database_of_release_0_1_0_is_refused_by_name(self):
        self.state.mkdir(mode=0o700)
        database = sqlite3.connect(self.state / "fairlead-rm.db")
        database.execute("CREATE TABLE rows (tab TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (tab, key)) WITHOUT ROWID")
        database.execute("INSERT INTO rows VALUES ('rm/app', 'application_1_0001', x'00')")
        database.commit()
        database.close()
        (self.state / "fairlead-rm.db").chmod(0o600)
        self.assert_refused(self.start(), "fairlead-rm.db", "release 0.1.0 wrote it", "remove the state directory")

    def test_node_agent_and_shuffle_service_refuse_damage_too(self):
        for name, file in (("nm", "fairlead-nm.db"), ("shuffle", "shuffle.db")):
            self.end(self.assert_started(self.start(name)))
            (self.state / file).write_bytes(b"")
            self.assert_refused(self.start(name), self.state / file, "is damaged", "backup")
            shutil.rmtree(self.state)

    def test_a_store_that_is_removed_while_in_use_ends_the_manager(self):
        daemon = self.assert_started(self.start())
        self.submit()
        shutil.rmtree(self.state)
        try:
            self.submit()
            self.fail("an application was acknowledged that nothing holds")
        except (urllib.error.URLError, OSError):
            pass
        self.assertEqual(daemon.wait(SECONDS), 1)
        self.assertIn("was removed while in use", daemon.log.read_text())


class Journal(State):
    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount")
    def test_it_never_stands_in_the_way_of_a_start(self):
        self.state.mkdir(mode=0o700)
        journal = self.state / "rm.journal"
        journal.write_bytes(os.urandom(5000))
        journal.chmod(0o600)
        subprocess.run(["mount", "--bind", journal, journal], check=True)  # it cannot be set aside
        try:
            daemon = self.assert_started(self.start())
            self.assertIn("there is no journal", daemon.log.read_text())
            self.submit()
            self.end(daemon)
        finally:
            subprocess.run(["umount", "-l", journal], check=True)
        self.assert_started(self.start())
        self.assertEqual(journal.read_bytes()[:8], b"FLJRNL02")
        self.assertEqual((self.state / "rm.journal.1").stat().st_size, 5000)


class Access(State):
    def open_to_others(self):
        return [path for path in (self.state, *self.state.rglob("*")) if not path.is_socket() and stat.S_IMODE(path.lstat().st_mode) & 0o077]

    def test_everything_is_its_users_alone_whatever_the_umask_is(self):
        for name in ("rm", "nm", "shuffle"):
            daemon = self.assert_started(self.start(name, umask=0))
            if name == "rm":
                self.submit()
            self.assertEqual(self.open_to_others(), [])
            self.end(daemon)
            shutil.rmtree(self.state)

    def test_our_own_that_is_open_is_closed_and_told(self):
        self.end(self.assert_started(self.start()))
        self.state.chmod(0o755)
        (self.state / "fairlead-rm.db").chmod(0o644)
        daemon = self.assert_started(self.start())
        self.assertEqual(self.open_to_others(), [])
        self.assertEqual(daemon.log.read_text().count("was open to other users"), 2)

    def test_what_others_may_write_and_links_are_refused(self):
        for name in ("rm", "nm", "shuffle"):
            self.state.mkdir()
            self.state.chmod(0o777)
            self.assert_refused(self.start(name), self.state, "others may write it")
            self.state.rmdir()
            elsewhere = self.top / "elsewhere"
            elsewhere.mkdir(exist_ok=True)
            self.state.symlink_to(elsewhere)
            self.assert_refused(self.start(name), self.state, "it is a link")
            self.state.unlink()
            self.state.mkdir(mode=0o700)
            (self.state / "rm.journal").symlink_to("/etc/passwd")
            self.assert_refused(self.start(name), self.state / "rm.journal", "it is a link")
            shutil.rmtree(self.state)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to give files away")
    def test_what_belongs_to_somebody_else_is_refused(self):
        for name in ("rm", "nm", "shuffle"):
            self.state.mkdir(mode=0o700)
            os.chown(self.state, STRANGER, STRANGER)
            self.assert_refused(self.start(name), self.state, f"it belongs to user {STRANGER}")
            self.state.rmdir()


@unittest.skipUnless(os.geteuid() == 0, "needs root, to mount")
class Disk(State):
    def setUp(self):
        super().setUp()
        self.disk = self.top / "disk"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=False)
        self.state = self.disk / "state"

    def fill(self):
        with open(self.disk / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass

    def test_a_full_disk_is_told_at_the_start_with_what_is_free(self):
        self.fill()
        for name in ("rm", "nm", "shuffle"):
            self.assert_refused(self.start(name), "the disk is full", "are free", self.state)

    def test_a_full_disk_is_told_to_an_executor_that_registers(self):
        daemon = self.assert_started(self.start("shuffle"))
        self.fill()
        refused = None
        with socket.create_connection(("127.0.0.1", self.shuffle), 10) as peer:
            for executor in range(1, 500):  # the database has some room of its own
                shuffle_peer.register(peer, executor, self.top)
                try:
                    shuffle_peer.await_answer(peer, executor)
                except AssertionError as error:
                    refused = executor
                    self.assertIn("the disk is full", str(error))
                    break
            self.assertIsNotNone(refused)
            (self.disk / "filler").unlink()
            shuffle_peer.register(peer, refused, self.top)
            shuffle_peer.await_answer(peer, refused)
        self.end(daemon)
        self.assertIn(f" executors={refused} ", self.assert_started(self.start("shuffle")).log.read_text())

    def test_a_full_disk_is_told_while_running_and_later_work_goes_on(self):
        daemon = self.assert_started(self.start())
        app = self.submit()
        self.fill()
        words = ""
        for _ in range(50):  # the database has some room of its own
            try:
                self.submit()
            except urllib.error.HTTPError as error:
                words = error.read().decode()
                break
        self.assertIn("the disk is full", words)
        (self.disk / "filler").unlink()
        later = self.submit()
        self.assertIn("the disk is full", daemon.log.read_text())
        self.end(daemon)
        self.assert_started(self.start())
        self.assertLessEqual({app, later}, self.apps())

    def test_a_read_only_disk_is_told(self):
        for name in ("rm", "nm", "shuffle"):
            self.end(self.assert_started(self.start(name)), signal.SIGTERM)
            subprocess.run(["mount", "-o", "remount,ro", self.disk], check=True)
            self.assert_refused(self.start(name), "read-only", self.state)
            subprocess.run(["mount", "-o", "remount,rw", self.disk], check=True)
            shutil.rmtree(self.state)


class FailingDisk(State):
    """Input and output errors (failing_disk.cc)."""
    WELL, WRITES, ALL = b"\0", b"\1", b"\2"

    def setUp(self):
        super().setUp()
        self.switch = self.top / "fails"
        self.set(self.WELL)
        self.state = self.top / "disk/state"
        self.state.parent.mkdir()
        environment = {"LD_PRELOAD": str(BINARY.parent / "tests/libfailing_disk.so"), "FAIRLEAD_TEST_DISK": str(self.state.parent),
                       "FAIRLEAD_TEST_DISK_FAILS": str(self.switch)}
        patch = unittest.mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)

    def set(self, how):
        with open(self.switch, "r+b" if self.switch.exists() else "wb") as file:  # daemons have it mapped
            file.write(how)

    def assert_not_ready_until_well(self, web):
        """Nobody asks for anything meanwhile."""
        self.assertRegex("%s %s" % self.ready(web), "503 nothing can be stored: .*the disk fails")
        self.set(self.WELL)
        until(lambda: self.ready(web)[0] == 200, "that it is ready again")

    @staticmethod
    def ready(web):
        try:
            return 200, urllib.request.urlopen(f"http://127.0.0.1:{web}/readyz", timeout=10).read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def test_it_is_told_at_the_start(self):
        for name in ("rm", "nm", "shuffle"):
            for how in (self.WRITES, self.ALL):
                self.set(self.WELL)
                self.end(self.assert_started(self.start(name)))
                self.set(how)
                with self.subTest(daemon=name, fails=how):
                    self.assert_refused(self.start(name), "the disk fails (Input/output error)", self.state)
            self.set(self.WELL)
            self.end(self.assert_started(self.start(name)))  # nothing was harmed
            shutil.rmtree(self.state)

    def test_it_is_told_to_who_submits_and_later_work_goes_on(self):
        daemon = self.assert_started(self.start())
        app = self.submit()
        self.set(self.WRITES)
        for _ in range(3):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.submit()
            self.assertIn("the disk fails (Input/output error)", refused.exception.read().decode())
        self.assert_not_ready_until_well(self.web)
        later = self.submit()
        self.assertIn("the disk fails", daemon.log.read_text())
        self.end(daemon)
        self.assert_started(self.start())
        self.assertEqual(self.apps(), {app, later})

    def test_it_is_told_to_an_executor_that_registers(self):
        daemon = self.assert_started(self.start("shuffle"))
        with socket.create_connection(("127.0.0.1", self.shuffle), 10) as peer:
            self.set(self.WRITES)
            shuffle_peer.register(peer, 1, self.top)
            with self.assertRaisesRegex(AssertionError, "the disk fails"):
                shuffle_peer.await_answer(peer, 1)
            self.assert_not_ready_until_well(self.shuffle_web)
            shuffle_peer.register(peer, 1, self.top)
            shuffle_peer.await_answer(peer, 1)
        self.end(daemon)
        self.assertIn(" executors=1 ", self.assert_started(self.start("shuffle")).log.read_text())


if __name__ == "__main__":
    unittest.main()
