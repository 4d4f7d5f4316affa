#!/usr/bin/env python3
"""What REST of the profile yarn-capacity takes and tells of node labels and activities, on a resource manager without nodes."""
import json
import os
import pathlib
import shutil
import subprocess
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
QUEUES = (("root.queues", "alpha,beta"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "50"), ("maximum-am-resource-percent", "1"),
          ("root.accessible-node-labels.fast.capacity", "100"), ("root.alpha.accessible-node-labels", "fast"),
          ("root.alpha.accessible-node-labels.fast.capacity", "100"), ("root.beta.accessible-node-labels", " "),
          ("root.beta.acl_application_max_priority", "[user=root max_priority=3 default_priority=2] [user=chief max_priority=9]"),
          ("user-metrics.enable", "true"), ("workflow-priority-mappings", "nightly:root.beta:1"), ("workflow-priority-mappings-override.enable", "true"))
SITE = (("yarn.node-labels.enabled", "true"), ("yarn.acl.enable", "true"), ("yarn.cluster.max-application-priority", "10"), ("yarn.admin.acl", "root"), ("yarn.scheduler.configuration.store.class", "memory"))


class Rest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-process-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.cluster = lab.Cluster(cls.directory / "cluster", registry.Spec(nodes=(), history=False, capacity=QUEUES, yarn_site=SITE))
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.write()
        cls.cluster.start_rm()
        cls.cluster.wait(lambda: cls.cluster.get("/ws/v1/cluster/info"), "the resource manager")
        cls.label("add-node-labels", {"nodeLabelInfo": [{"name": "fast", "exclusivity": "true"}]})

    @classmethod
    def ask(cls, method, path, body="", kind="application/json", user="root"):
        """Status and text of the answer."""
        target = cls.cluster.page(f"/ws/v1/cluster/{path}{'&' if '?' in path else '?'}user.name={user}")
        request = urllib.request.Request(target, data=body.encode() or None, method=method, headers={"Content-Type": kind, "Accept": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    @classmethod
    def label(cls, path, body=None):
        status, text = cls.ask("POST", path, json.dumps(body) if body is not None else "")
        if status != 200:
            raise AssertionError(f"{path}: {status} {text}")

    def refusal(self, *words, status=400, **options):
        code, text = self.ask(*words, **options)
        self.assertEqual(code, status, text)
        return json.loads(text)["RemoteException"]["message"]

    def submit(self, queue, **labels):
        app = self.cluster.new_application()
        status, text = self.ask("POST", "apps", json.dumps({
            "application-id": app, "application-name": "waits", "queue": queue, "resource": {"memory": 256, "vCores": 1},
            "am-container-spec": {"commands": {"command": "true"}}, **labels}))
        return app, status, text

    def test_without_nodes_that_is_what_is_said(self):
        app, status, text = self.submit("root.beta")
        self.assertEqual(status, 202, text)
        self.cluster.wait(lambda: "no node is registered; start node agents" in self.cluster.app(app)["diagnostics"], "what the application waits for")
        shown = subprocess.run([peers.BINARY, "nodes", "--hadoop-conf", self.cluster.conf], capture_output=True, text=True, timeout=60)
        self.assertTrue(shown.stdout.startswith("no node is registered; start node agents"), shown)

    def test_a_submission_keeps_its_labels(self):
        app, status, text = self.submit("root.alpha", **{"am-container-node-label-expression": "fast", "app-node-label-expression": "fast"})
        self.assertEqual(status, 202, text)
        self.cluster.wait(lambda: self.cluster.app(app)["state"] == "ACCEPTED", "an application that waits")
        told = self.cluster.app(app)
        self.assertEqual((told["amNodeLabelExpression"], told["appNodeLabelExpression"]), ("fast", "fast"))
        for name in ("am-container-node-label-expression", "app-node-label-expression"):
            _, status, text = self.submit("root.beta", **{name: "fast"})
            self.assertEqual(status, 400)
            self.assertIn("doesn't have permission to access all labels", text)
        app, status, _ = self.submit("root.beta")
        self.assertEqual(status, 202)
        self.assertEqual(self.cluster.app(app)["amNodeLabelExpression"], "")

    def test_monitors_see_partitions_and_users(self):
        def bean(name):
            found, = self.cluster.get(f"/jmx?qry=Hadoop:service=ResourceManager,name={name}")["beans"]
            return found
        names = [f"PartitionQueueMetrics,partition={label}{queue}" for label in ("fast", "default") for queue in ("", ",q0=root", ",q0=root,q1=alpha")]
        names += ["QueueMetrics,q0=root", "QueueMetrics,q0=root,q1=alpha"]
        before = [bean(name)["PendingMB"] for name in names]
        app, status, text = self.submit("root.alpha", **{"am-container-node-label-expression": "fast", "app-node-label-expression": "fast"})
        self.assertEqual(status, 202, text)
        self.cluster.wait(lambda: self.cluster.app(app)["state"] == "ACCEPTED", "an application that waits")
        self.assertEqual([bean(name)["PendingMB"] - was for name, was in zip(names, before)], [256] * 3 + [0] * 5, "of the default partition nothing")
        told = bean(names[2])
        self.assertEqual((told["tag.Partition"], told["tag.Queue"], told["AllocatedMB"]), ("fast", "root.alpha", 0))
        user = bean("QueueMetrics,q0=root,q1=alpha,user=root")
        self.assertEqual((user["tag.User"], user["AppsRunning"], user["AppsPending"]), ("root", 0, user["AppsSubmitted"]))
        self.assertGreater(user["PendingContainers"], 0)

    def test_labels_are_changed_by_administrators(self):
        self.label("add-node-labels", {"nodeLabelInfo": {"name": "slow"}})
        self.label("replace-node-to-labels", {"nodeToLabels": [{"nodeId": "host:1", "labels": ["slow"]}]})
        self.label("nodes/other/replace-labels?labels=slow")
        self.assertEqual(json.loads(self.ask("GET", "get-node-labels")[1])["nodeLabelInfo"][1]["exclusivity"], "false")
        self.assertIn("please note that we do not support", self.refusal("POST", "nodes/h:1/replace-labels?labels=slow&labels=fast"))
        self.assertIn("java.io.IOException: Not all labels being replaced", self.refusal("POST", "nodes/h:1/replace-labels?labels=none"))
        self.assertIn("Invalid port", self.refusal("POST", "nodes/h:x/replace-labels?labels=slow"))
        self.assertIn("is using this label", self.refusal("POST", "remove-node-labels?labels=fast"))
        self.assertEqual(self.refusal("POST", "remove-node-labels?labels=slow", status=401, user="ann"),
                         "User ann not authorized for post to .../remove-node-labels")
        self.label("remove-node-labels?labels=slow")
        self.assertNotIn("slow", self.ask("GET", "get-node-labels")[1])
        self.assertEqual(self.ask("GET", "remove-node-labels?labels=fast")[0], 405)

    def test_app_activities_are_hadoops_document(self):
        app, _, _ = self.submit("root.alpha")
        self.cluster.wait(lambda: self.cluster.app(app)["state"] == "ACCEPTED", "an application that waits")
        path = f"scheduler/app-activities/{app}"

        def told(query="", what=path):
            return json.loads(self.ask("GET", what + query)[1])["appActivities"]
        allocation, = told()["allocations"]
        self.assertEqual((allocation["queueName"], allocation["appPriority"], allocation["allocationState"]), ("root.alpha", -1, "SKIPPED"))
        request, = allocation["children"]
        self.assertEqual((request["requestPriority"], request["allocationRequestId"], request["allocationState"]), (0, -1, "SKIPPED"))
        self.assertEqual(told("?requestPriorities=0,3")["allocations"][0]["children"], allocation["children"])
        self.assertEqual(told("?requestPriorities=3")["allocations"], [])
        for query, words in (("?groupBy=colour", "Got invalid groupBy: colour, valid groupBy types: [DIAGNOSTIC]"),
                             ("?actions=look", "Got invalid action: look, valid actions: [REFRESH, GET]"),
                             ("?requestPriorities=x", "request priorities must be integers!"),
                             ("?allocationRequestIds=x", "allocation request Ids must be integers!"),
                             ("?limit=x", "limit must be integer!"), ("?limit=0", "limit must be greater than 0!"),
                             ("?actions=refresh", "Successfully received action: refresh")):
            self.assertEqual(told(query)["diagnostic"], words)
        self.assertEqual(told(what="scheduler/app-activities/some")["diagnostic"], "Cannot find application with given appId")
        self.assertEqual(told(what="scheduler/app-activities/application_1_0001")["diagnostic"],
                         "fail to get application activities after finished")

    def test_priorities_are_those_of_the_users_group_and_of_the_workflow(self):
        told = "org.apache.hadoop.security.AccessControlException: User root (auth:SIMPLE) does not have permission to submit/update {} for {{Priority: {}}}"
        app, status, text = self.submit("root.beta", priority=4)
        self.assertEqual(status, 400, text)
        self.assertIn(told.format(app, 4), text)
        app, status, text = self.submit("root.beta", priority=3)
        self.assertEqual(status, 202, text)
        self.cluster.wait(lambda: self.cluster.app(app)["state"] == "ACCEPTED", "an application that waits")
        status, text = self.ask("PUT", f"apps/{app}/priority", json.dumps({"priority": 5}))
        self.assertIn(told.format(app, 5), text)
        self.assertEqual(self.cluster.app(app)["priority"], 3)
        app, status, text = self.submit("root.beta", priority=3, **{"application-tags": {"tag": ["workflowid:nightly"]}})
        self.assertEqual(status, 202, text)
        self.assertEqual(self.cluster.app(app)["priority"], 1)

    def test_an_application_moves_where_its_user_may_submit(self):
        app, status, text = self.submit("root.alpha")
        self.assertEqual(status, 202, text)
        self.cluster.wait(lambda: self.cluster.app(app)["state"] == "ACCEPTED", "an application that waits")
        status, text = self.ask("PUT", f"apps/{app}/queue", json.dumps({"queue": "root.beta"}))
        self.assertEqual((status, json.loads(text)["queue"], self.cluster.app(app)["queue"]), (200, "root.beta", "root.beta"))
        status, text = self.ask("PUT", f"apps/{app}/queue", json.dumps({"queue": "root.nowhere"}))
        self.assertNotEqual(status, 200)
        self.assertIn("nowhere", text)
        self.assertEqual(self.cluster.app(app)["queue"], "root.beta")

    def test_the_schedulers_xml_says_the_kind_of_a_queue_as_jaxb_does(self):
        request = urllib.request.Request(self.cluster.page("/ws/v1/cluster/scheduler?user.name=root"), headers={"Accept": "application/xml"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read().decode()
        self.assertIn('<schedulerInfo xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="capacityScheduler">', text)
        self.assertIn('<queue xsi:type="capacitySchedulerLeafQueueInfo">', text)

    def test_bad_queues_are_refused_in_hadoops_words_and_nothing_changes(self):
        def keys(**changes):
            return {"global-updates": {"entry": [{"key": f"yarn.scheduler.capacity.{key}", "value": value} for key, value in changes.items()]}}
        below = {f"root.alpha{'.a' * depth}.queues": "a" for depth in range(120)}
        bad = ((keys(**{"root.queues": "alpha,beta,alpha"}), "Illegal capacity sum of 1.5 for children of queue root for label=. It should be either 0 or 1.0; root.alpha is listed twice"),
               (keys(**below), "nested deeper than 100"),
               (keys(**{"root.queues": ""}), "Queue configuration missing child queue names for root"),
               (keys(**{"root.queues": "alpha"}), "Illegal capacity sum of 0.5 for children of queue root"),
               ({"remove-queue": "root.beta", **keys(**{"root.alpha.capacity": "100"})}, "root.beta cannot be deleted from the capacity scheduler configuration, as the queue is not yet in stopped state"),
               (keys(**{"root.alpha.capacity": "40"}), "Illegal capacity sum of 0.9 for children of queue root"),
               (keys(**{"root.alpha.capacity": "3w"}), "have children queue used mixed of  weight mode, percentage and absolute mode"),
               (keys(**{"root.beta.default-node-label-expression": "nowhere"}), "Invalid default label expression of  queue=root.beta"),
               (keys(**{"queue-mappings": "u:ann:nowhere"}), "'nowhere' does not exist"))
        before = [self.ask("GET", path)[1] for path in ("scheduler-conf", "scheduler-conf/version")]
        for change, words in bad:
            with self.subTest(words):
                for method, path in (("POST", "scheduler-conf/validate"), ("PUT", "scheduler-conf")):
                    status, text = self.ask(method, path, json.dumps(change))
                    self.assertEqual(status, 400, text)
                    self.assertIn(words, text)
        with self.assertRaises(urllib.error.URLError):  # the connection is closed before the whole of it is read
            self.ask("PUT", "scheduler-conf", json.dumps(keys(**{"queue-mappings": "u:ann:alpha," * 4_000_000})))
        self.assertEqual([self.ask("GET", path)[1] for path in ("scheduler-conf", "scheduler-conf/version")], before)
        tree = json.loads(self.ask("GET", "scheduler")[1])["scheduler"]["schedulerInfo"]["queues"]["queue"]
        self.assertEqual(sorted((one["queueName"], one["capacity"]) for one in tree), [("alpha", 50), ("beta", 50)])

    def test_xml_of_another_root_changes_no_queues(self):
        self.assertIn('unexpected element (uri:"", local:"foo")', self.refusal("PUT", "scheduler-conf", "<foo/>", kind="application/xml"))


class FileOfQueues(unittest.TestCase):
    """Files that a running manager is told to read again."""

    KEYS = (("root.queues", "alpha,beta"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "50"))

    def setUp(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-process-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.cluster = lab.Cluster(directory / "cluster", registry.Spec(nodes=(), history=False, capacity=self.KEYS))
        self.addCleanup(self.cluster.stop)
        self.cluster.write()
        self.cluster.start_rm()
        self.cluster.wait(lambda: self.cluster.get("/ws/v1/cluster/info"), "the resource manager")

    def refresh(self):
        """Status and text of the answer."""
        request = urllib.request.Request(self.cluster.page("/fairlead/v1/queues/refresh?user.name=root"), data=b"{}", method="POST")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def capacities(self):
        tree = self.cluster.get("/ws/v1/cluster/scheduler")["scheduler"]["schedulerInfo"]["queues"]["queue"]
        return {one["queueName"]: one["capacity"] for one in tree}

    def test_a_file_that_is_refused_leaves_the_queues_and_the_manager_as_they_were(self):
        file = self.cluster.conf / "capacity-scheduler.xml"
        below = {f"root.alpha{'.a' * depth}.queues": "a" for depth in range(120)}
        large = "".join(f"<property><name>yarn.scheduler.capacity.root.q{number}.capacity</name><value>1</value></property>\n" for number in range(620_000))
        self.assertGreater(len(large), 50_000_000)
        for text, words in ((f"<configuration>\n{large}</configuration>", "capacity-scheduler.xml: "), ("<configuration><property>", "capacity-scheduler.xml:1"),
                            (None, "nested deeper than 100")):
            with self.subTest(words):
                if text is None:
                    self.cluster.write_capacity((*self.KEYS, *below.items()))
                else:
                    file.write_text(text)
                status, answer = self.refresh()
                self.assertEqual(status, 400, answer)
                self.assertIn(words, answer)
                self.assertEqual(self.capacities(), {"alpha": 50, "beta": 50})
        self.cluster.write_capacity((*self.KEYS[:1], ("root.alpha.capacity", "25"), ("root.beta.capacity", "75")))
        self.assertEqual(self.refresh()[0], 200)
        self.assertEqual(self.capacities(), {"alpha": 25, "beta": 75})

    def test_the_log_says_which_rule_chose_the_profile(self):
        log = (self.cluster.directory / "rm.log").read_text()
        ready, = [line for line in log.splitlines() if "the resource manager is ready" in line]
        self.assertIn("yarn-capacity", ready)
        self.assertIn("yarn.resourcemanager.scheduler.class is org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler", ready)


if __name__ == "__main__":
    unittest.main(verbosity=2)
