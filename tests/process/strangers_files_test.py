#!/usr/bin/env python3
"""Allocation files of real clusters before a real resource manager: whom they let in, who waits, and what each is told."""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as lab  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402

peers.BINARY = pathlib.Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build")) / "fairlead"
LISTS = """<allocations><queue name="root"><aclSubmitApps> </aclSubmitApps><aclAdministerApps> </aclAdministerApps>
 <queue name="a"><aclSubmitApps>daemon</aclSubmitApps></queue>
 <queue name="g"><aclSubmitApps> mail</aclSubmitApps></queue>
 <queue name="w"><aclSubmitApps> users mail</aclSubmitApps></queue>
</queue>
 <queuePlacementPolicy><rule name="specified" create="false"/><rule name="reject"/></queuePlacementPolicy></allocations>
"""
LIMITS = """<allocations><queueMaxAppsDefault>2</queueMaxAppsDefault><userMaxAppsDefault>1</userMaxAppsDefault><user name="alice"><maxRunningApps>2</maxRunningApps></user>
 <queue name="a"/><queue name="z"><maxRunningApps>0</maxRunningApps></queue><queue name="t"><maxResources>0 mb, 0 vcores</maxResources></queue></allocations>
"""
GROUPS = """<allocations><queue name="mail"/><queue name="users" type="parent"/>
<queuePlacementPolicy><rule name="specified" create="false"/><rule name="primaryGroup" create="false"/><rule name="nestedUserQueue"><rule name="default" queue="users"/></rule></queuePlacementPolicy></allocations>
"""
PROFILES = ("fairlead", "yarn-fair", "tdw")


class Files(unittest.TestCase):
    def start(self, allocations, profile, *keys, nodes=()):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-process-"))
        directory.chmod(0o755)
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.cluster = lab.Cluster(directory / "cluster", registry.Spec(
            nodes=nodes, history=False, allocations=allocations, yarn_site=(("fairlead.scheduler.profile", profile), *keys)))
        self.addCleanup(self.cluster.stop)
        self.cluster.start()

    def submit(self, user, queue=None):
        """The application, and why it was refused: "" when it was taken."""
        app = self.cluster.new_application()
        body = {"application-id": app, "application-name": "job", "am-container-spec": {"commands": {"command": "sleep 300"}}, "resource": {"memory": 256, "vCores": 1}}
        request = urllib.request.Request(self.cluster.page(f"/ws/v1/cluster/apps?user.name={user}"), method="POST", headers={"Content-Type": "application/json", "Accept": "application/json"},
                                         data=json.dumps({**body, **({"queue": queue} if queue else {})}).encode())
        try:
            with urllib.request.urlopen(request, timeout=30):
                return app, ""
        except urllib.error.HTTPError as refused:
            return app, json.loads(refused.read())["RemoteException"]["message"]

    def told(self, user, queue):
        """Why it was refused, at once or, as by Hadoop's FairScheduler, once it was taken; "" of one that waits."""
        app, refused = self.submit(user, queue)
        if refused:
            return refused
        self.cluster.wait(lambda: self.cluster.app(app)["state"] in ("ACCEPTED", "FAILED"), "what becomes of it", 20)
        seen = self.cluster.app(app)
        return seen["diagnostics"] if seen["state"] == "FAILED" else ""

    def test_lists_hold_without_acl_enable(self):
        for profile in PROFILES:
            with self.subTest(profile):
                self.start(LISTS, profile, ("hadoop.user.group.static.mapping.overrides", "daemon=daemon;postman=mail;eve=staff"))
                for user, queue in (("daemon", "root.a"), ("postman", "root.g")):
                    self.assertEqual(self.told(user, queue), "", f"{user} {queue}")
                for user, queue in (("eve", "root.a"), ("eve", "root.g"), ("eve", "root.w"), ("postman", "root.a"), ("daemon", "root.g")):
                    self.assertRegex(self.told(user, queue), f"User {user} does not have permission to submit application_\\d+_\\d+ to queue {queue}", f"{user} {queue}")

    def test_who_waits_at_a_limit_is_told_so_in_yarns_field(self):
        for profile in ("fairlead", "yarn-fair"):
            with self.subTest(profile):
                self.start(LIMITS, profile, nodes=("fairlead",))
                waits = {"root.z": ("bob", 1, 'The queue "root.z" has reached the maximum limit of runnable applications.'),
                         "root.a": ("carol", 2, 'The user "carol" has reached the maximum limit of runnable applications.')}
                for queue, (user, count, words) in waits.items():
                    app, refused = [self.submit(user, queue) for _ in range(count)][-1]
                    self.assertEqual(refused, "")
                    self.cluster.wait(lambda app=app, words=words: words in self.cluster.app(app)["diagnostics"], words, 20)
                self.assertRegex(self.told("alice", "root.t"), "root.t because it has zero amount of resource for a requested resource! Invalid requested AM resources: ")

    def test_without_an_account_the_rule_of_groups_says_so(self):
        for profile in ("fairlead", "yarn-fair"):
            with self.subTest(profile):
                self.start(GROUPS, profile)
                self.assertIn("Group resolution failed: user nobody-knows-me has no groups here", self.submit("nobody-knows-me")[1])
                self.assertEqual(self.submit("mail")[1], "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
