#!/usr/bin/env python3
"""What lies under share/ for Prometheus and Grafana: the alerts fire when they should, and every metric that is named there is
one that a daemon has."""
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARE = ROOT / "share"
PROMTOOL = shutil.which("promtool")
# Where metrics are made: the file, what their names begin with, and how a name is written there.
SOURCES = [("src/process/rm/web_metrics.cc", "fairlead_rm_", r'(?:Counters?|Gauges?|Seconds|each)\("(\w+)"'),
           ("src/process/spark_master/master_json.cc", "fairlead_spark_master_", r'(?:Gauge|Counters?)\("(\w+)"'),
           ("src/process/spark_worker/worker_page.cc", "fairlead_spark_worker_", r'(?:Gauge|Counters?)\("(\w+)"'),
           ("src/process/nm/web.cc", "fairlead_nm_", r'(?:counter|Counters|Gauge)\("(\w+)"'),
           ("src/shell/shuffle/page.cc", "fairlead_shuffle_", r'(?:\{|Counter\()"(\w+)", (?:true|false|http::)')]


def metrics():
    names = set()
    for file, prefix, pattern in SOURCES:
        found = re.findall(pattern, (ROOT / file).read_text())
        assert found, file
        for name in found:
            names |= {prefix + name} | ({f"{prefix}{name}_{part}" for part in ("bucket", "sum", "count")} if name.endswith("_seconds") else set())
    return names


def spelled_out(text):
    """Every name that a pattern such as `{__name__=~"a_(b|c)"}` stands for, instead of it."""
    def names(pattern):
        parts = [part.split("|") for part in re.split(r"[()]", pattern[1])]
        return " ".join(map("".join, itertools.product(*parts)))
    return re.sub(r'__name__=~"([^"]*)"', names, text)


def board():
    return json.loads((SHARE / "grafana/fairlead.json").read_text())


def expressions():
    return [target["expr"] for panel in board()["panels"] for target in panel["targets"]]


class Names(unittest.TestCase):
    def test_what_is_asked_for_is_there(self):
        known = metrics()
        text = spelled_out((SHARE / "prometheus/fairlead.rules.yml").read_text() + "\n".join(expressions()))
        asked = set(re.findall(r"\bfairlead_(?:rm|nm|shuffle|spark_master|spark_worker)_\w+", text))
        self.assertGreater(len(asked), 20)
        self.assertEqual(asked - known, set())


class Dashboard(unittest.TestCase):
    def test_its_form(self):
        one = board()
        self.assertEqual({"title", "uid", "schemaVersion", "panels", "templating", "time"} - one.keys(), set())
        sources = {variable["name"] for variable in one["templating"]["list"]}
        ids, places = set(), set()
        for panel in one["panels"]:
            self.assertEqual({"id", "title", "type", "gridPos", "targets", "datasource", "fieldConfig"} - panel.keys(), set())
            self.assertIn(panel["datasource"]["uid"].strip("${}"), sources)
            grid = panel["gridPos"]
            self.assertLessEqual(grid["x"] + grid["w"], 24)
            ids.add(panel["id"])
            places.add((grid["x"], grid["y"]))
            self.assertEqual([target["refId"] for target in panel["targets"]], list("ABCDEFGH")[:len(panel["targets"])])
        self.assertEqual((len(ids), len(places)), (len(one["panels"]), len(one["panels"])))


@unittest.skipUnless(PROMTOOL, "needs promtool of Debian's prometheus")
class Promtool(unittest.TestCase):
    def tool(self, *words):
        shown = subprocess.run([PROMTOOL, *map(str, words)], cwd=SHARE / "prometheus", capture_output=True, text=True, timeout=120)
        self.assertEqual(shown.returncode, 0, shown.stdout + shown.stderr)

    def test_alerts_fire_when_they_should(self):
        self.tool("check", "rules", "fairlead.rules.yml")
        self.tool("test", "rules", "fairlead.rules.test.yml")

    def test_the_dashboards_expressions_parse(self):
        rules = [{"record": f"panel:{i}", "expr": expr.replace("$__rate_interval", "5m")} for i, expr in enumerate(expressions())]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)  # JSON is YAML
            file.flush()
            self.tool("check", "rules", file.name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
