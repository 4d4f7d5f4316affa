#!/usr/bin/env python3
"""Bodies of strangers' requests against the real daemons: nested a million deep, of a hundred thousand members, small ones that stand for
much. Each is refused with a reason, soon, and costs the daemon little; it goes on answering."""
import base64
import hashlib
import hmac
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import spark_home
from costs import Dearest, healthy
from strangers_test import Daemons, ask

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
from peers import free_ports  # noqa: E402

JSON = "application/json"
XML = "application/xml"


def nested(depth, opening="[", closing="]"):
    return opening * depth + closing * depth


def members(count, value='""'):
    return "{" + ",".join(f'"m{i}":{value}' for i in range(count)) + "}"


# What the parser must bear; each is refused (or, where it stands within bounds, answered).
DEEP_JSON = {
    "arrays": nested(1_000_000),
    "objects": nested(300_000, '{"a":', "}"),
    "not closed": "[" * 2_000_000,
}
WIDE_JSON = {
    "members": members(150_000),
    "one member for ever": "{" + '"a":1,' * 250_000 + '"a":1}',
    "empty objects": "[" + "{}," * 600_000 + "{}]",
    "names that begin alike": "{" + ",".join(f'"{"x" * 200}{i}":0' for i in range(9_000)) + "}",
    "escapes": '"' + "\\u0000" * 300_000 + '"',
}
WRONG_XML = {
    "elements": "<a>" * 250_000 + "</a>" * 250_000,
    "not closed": "<a>" * 600_000,
    "empty elements": "<a>" + "<b/>" * 450_000 + "</a>",
    "attributes": "<a " + "b='' " * 400_000 + "/>",
    "of all names": "<a>" + "".join(f"<b{i}/>" for i in range(150_000)) + "</a>",
    "entities": '<!DOCTYPE a [<!ENTITY x0 "lol">' + "".join(
        f'<!ENTITY x{i} "{f"&x{i - 1};" * 10}">' for i in range(1, 30)) + "]><a>&x29;</a>",
}


class Bodies(Daemons):
    """Each body costs little and harms nobody."""

    def costs_little(self, daemon, port, target, body, headers, statuses, host=None):
        """Posts it and gives the answer's text."""
        self.dearest = getattr(self, "dearest", None) or Dearest(self)
        with self.dearest.message(self, self.processes[daemon].pid, f"{len(body)} bytes, {body[:40]}"):
            status, answer = ask(port, target, "POST", host=host, body=body, headers=headers)
        self.assertIn(status, statuses, answer[:500])
        self.assertLess(len(answer), 4096, "an answer that gives the body back")
        return answer.decode()


class ResourceManager(Bodies):
    def post(self, body, kind):
        target = "/ws/v1/cluster/apps?user.name=eve"
        return self.costs_little("rm", self.rm, target, body, {"Content-Type": kind}, (400,))

    def test_json(self):
        with healthy(self, self.rm):
            for name, value in {**DEEP_JSON, **WIDE_JSON}.items():
                for body in (value, '{"application-id":' + value + "}", '{"am-container-spec":{"environment":' + value + "}}"):
                    with self.subTest(name=name, begins=body[:40]):
                        self.post(body, JSON)
        self.assertIn("nested deeper than 32", self.post(DEEP_JSON["arrays"], JSON))
        self.assertIn("it may have 2097152", self.post(" " * 3_000_000, JSON))

    def test_xml(self):
        with healthy(self, self.rm):
            for name, body in WRONG_XML.items():
                with self.subTest(name=name):
                    self.post(body, XML)
        self.assertIn("nested deeper than 32", self.post("<a>" * 10_000 + "</a>" * 10_000, XML))

    def test_what_is_usual_is_taken(self):
        app = self.submit("ann", "true", acls=[{"key": "VIEW_APP", "value": "*"}])
        self.assertTrue(app.startswith("application_"))


KEY = b"0123456789abcdef0123456789abcdef"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(head, claims):
    signed = base64url(head.encode()) + "." + base64url(claims.encode())
    return signed + "." + base64url(hmac.new(KEY, signed.encode(), hashlib.sha256).digest())


class StandaloneMaster(Bodies):
    """REST submissions, on by default with Spark 4."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-bodies-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.processes = {}
        self.addCleanup(self.stop)
        self.port, self.web, self.rest = free_ports(3)
        self.start_master({})

    def start_master(self, properties):
        home = self.directory / "spark"
        if not home.exists():
            spark_home.make(self.directory)
        lines = {"spark.master.rest.enabled": "true", "spark.master.rest.port": self.rest, **properties}
        file = self.directory / "spark.conf"
        file.write_text("".join(f"{key} {value}\n" for key, value in lines.items()))
        self.spawn("master", "spark-master", "--spark-home", home, "--host", "127.0.0.1", "--port", self.port, "--webui-port", self.web,
                   "--properties-file", file)
        self.await_port(self.web)

    def post(self, body, statuses=(400,), **headers):
        return self.costs_little("master", self.rest, "/v1/submissions/create", body, {"Content-Type": JSON, **headers}, statuses)

    def request(self, **fields):
        return {"action": "CreateSubmissionRequest", "appArgs": [], "appResource": "file:/job.jar", "clientSparkVersion": "4.3.0",
                "environmentVariables": {}, "mainClass": "Job", "sparkProperties": {"spark.app.name": "x"}, **fields}

    def with_raw(self, field, text):
        """A request that is good but for that field, of which the text stands there as it is."""
        return json.dumps(self.request(**{field: "@@"})).replace('"@@"', text)

    def test_json(self):
        with healthy(self, self.web):
            for name, value in {**DEEP_JSON, **WIDE_JSON}.items():
                fields = ("action", "appArgs", "sparkProperties", "environmentVariables", "unknown")
                for body in (value, *(self.with_raw(field, value) for field in fields), self.with_raw("appArgs", f"[{value}]"),
                             self.with_raw("sparkProperties", '{"spark.app.name":' + value + "}")):
                    with self.subTest(name=name, begins=body[:120]):
                        self.post(body, (400, 500))
        self.assertIn("nested deeper than 32", self.post(DEEP_JSON["arrays"]))

    def test_texts(self):
        for field, length, told in [("mainClass", 2000, "at most 1024"), ("appResource", 9000, "at most 8192"),
                                    ("clientSparkVersion", 2000, "at most 1024")]:
            self.assertIn(told, self.post(json.dumps(self.request(**{field: "x" * length}))))
        self.assertIn("at most 65536", self.post(json.dumps(self.request(appArgs=["x" * 70_000]))))
        self.assertIn("at most 1048576", self.post(json.dumps(self.request(appArgs=["x" * 60_000] * 20))))
        self.assertIn("at most 4096", self.post(json.dumps(self.request(environmentVariables={str(i): "" for i in range(5000)}))))
        answer = self.post(json.dumps(self.request(appArgs=["x" * 60_000] * 10, unheard="of")), (200,))
        self.assertEqual(json.loads(answer)["unknownFields"], ["unheard"])

    def test_tokens(self):
        self.processes["master"].kill()
        self.processes["master"].wait()
        self.start_master({"spark.master.rest.filters": "org.apache.spark.ui.JWSFilter",
                           "spark.org.apache.spark.ui.JWSFilter.param.secretKey": base64url(KEY)})
        good = '{"alg":"HS256"}'
        bad = [nested(4000), "[" * 9000, '{"alg":' * 1200 + "1" + "}" * 1200, members(800), '{"alg":"HS256","x":' + nested(2000) + "}"]
        with healthy(self, self.web):
            for part in bad:
                for one in (token(part, "{}"), token(good, part)):
                    self.post("{}", (400, 403), Authorization=f"Bearer {one}")  # 400: many claims are a token, and no request
        self.post(json.dumps(self.request()), (200,), Authorization="Bearer " + token(good, '{"sub":"ann","aud":["x",{"y":[]}]}'))


if __name__ == "__main__":
    unittest.main(verbosity=2)
