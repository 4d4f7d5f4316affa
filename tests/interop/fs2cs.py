#!/usr/bin/env python3
"""fs2cs.py COUNT DIR [SEED]: COUNT generated fair-scheduler.xml files through Hadoop's own converter, each with events that follow, as scenarios of
`./test --oracle capacity-scheduler` in DIR/scenarios; what Hadoop decides on them is recorded as docs/recordings.md says. DIR/files keeps files and output.
A file that the converter refuses is counted and left out."""
import json
import pathlib
import random
import subprocess
import sys
import xml.etree.ElementTree as tree

import peers

VERSION = "3.4.3"
USERS = {"ann": "staff,users", "bob": "ops,users", "cid": "staff"}
RULES = ('<rule name="specified" create="{create}"/>', '<rule name="user" create="{create}"/>', '<rule name="primaryGroup" create="{create}"/>',
         '<rule name="nestedUserQueue"><rule name="primaryGroup" create="{create}"/></rule>')


class Generator:
    """One file with its events; the same seed gives the same."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.leaves = []
        self.preemption = self.chance(0.4)

    def chance(self, part):
        return self.random.random() < part

    def settings(self, leaf, policy_above):
        """Elements of one queue; minima and maxima are dropped by the converter, which is part of what is to be seen."""
        lines = []
        if self.chance(0.7):
            lines.append(f"<weight>{self.random.choice(('1.0', '2.0', '3.5', '0.5', '10.0'))}</weight>")
        if self.chance(0.2):
            lines.append("<minResources>1024 mb,1 vcores</minResources>")
        if self.chance(0.2):
            lines.append("<maxResources>50.0%</maxResources>")
        if self.chance(0.25):
            lines.append(f"<maxRunningApps>{self.random.randint(1, 6)}</maxRunningApps>")
        if leaf and self.chance(0.3):
            lines.append(f"<maxAMShare>{self.random.choice(('0.1', '0.3', '0.8', '-1.0'))}</maxAMShare>")
        if self.chance(0.15):
            lines.append("<allowPreemptionFrom>false</allowPreemptionFrom>")
        if self.chance(0.2):
            lines.append("<fairSharePreemptionTimeout>5</fairSharePreemptionTimeout>")
        if leaf and self.chance(0.3):
            lines.append(f"<schedulingPolicy>{self.random.choice(('fifo', 'fair') if policy_above == 'fair' else ('drf', 'fifo'))}</schedulingPolicy>")
        return lines

    def queue(self, name, path, depth, policy):
        children = self.random.randint(1, 3) if depth < 3 and self.chance(0.4) else 0
        lines = [f'<queue name="{name}">', *self.settings(children == 0, policy)]
        for i in range(children):
            lines += self.queue(f"{name}{i}", f"{path}.{name}{i}", depth + 1, policy)
        if children == 0:
            self.leaves.append(path)
        return lines + ["</queue>"]

    def allocations(self):
        policy = self.random.choice(("fair", "drf"))
        lines = ["<allocations>", f"<defaultQueueSchedulingPolicy>{policy}</defaultQueueSchedulingPolicy>"]
        if self.chance(0.3):
            lines.append(f"<userMaxAppsDefault>{self.random.randint(2, 8)}</userMaxAppsDefault>")
        if self.chance(0.3):
            lines.append(f'<user name="bob"><maxRunningApps>{self.random.randint(1, 4)}</maxRunningApps></user>')
        if self.chance(0.3):
            lines.append("<queueMaxAMShareDefault>0.6</queueMaxAMShareDefault>")
        for name in ["default", *self.random.sample(("prod", "etl", "adhoc", "ml", "web"), self.random.randint(1, 4))]:
            lines += self.queue(name, f"root.{name}", 3 if name == "default" else 1, policy)
        if self.chance(0.5):
            rules = [rule.format(create="false") for rule in self.random.sample(RULES, self.random.randint(1, 2))]
            # A rule that creates always places: Hadoop refuses others behind it.
            rules.append(self.random.choice(('<rule name="default"/>', RULES[self.random.choice((0, 1, 3))].format(create="true"))))
            lines += ["<queuePlacementPolicy>", *rules, "</queuePlacementPolicy>"]
        return "\n".join(lines + ["</allocations>"]) + "\n"

    def site(self, directory):
        keys = {
            "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler",
            "yarn.scheduler.fair.allocation.file": directory / "fair-scheduler.xml",
            "yarn.scheduler.fair.assignmultiple": str(self.chance(0.5)).lower(),
            "yarn.scheduler.fair.sizebasedweight": str(self.chance(0.3)).lower(),
            "yarn.scheduler.fair.preemption": str(self.preemption).lower(),
        }
        if self.chance(0.3):
            keys["yarn.scheduler.fair.max.assign"] = self.random.randint(1, 5)
        if self.chance(0.2):  # the converter writes a share of the cluster where Hadoop's scheduler wants a number of nodes
            keys["yarn.scheduler.fair.locality.threshold.node"] = self.random.choice(("0.5", "1.0"))
        return keys

    def options(self):
        return ["-pc"] if self.chance(0.4) else []

    def steps(self):
        """Submissions, asks, heartbeats, ends, preemption rounds; queues are asked for by name, by placement, or do not exist."""
        steps, apps = [{"op": "dump"}], []
        for number in range(1, self.random.randint(6, 14)):
            queue = self.random.choice([*self.leaves, "default", "root.new.one"])
            steps.append({"op": "addApp", "app": number, "queue": queue, "user": self.random.choice(list(USERS)), "place": self.chance(0.8),
                          "am": {"mem": self.random.choice((512, 1024, 2048)), "vc": 1}})
            apps.append(number)
            steps += self.beats(self.random.randint(2, 5))
            asks = [{"p": 1, "name": "*", "mem": self.random.choice((512, 1024, 1536, 3072)), "vc": self.random.randint(1, 2), "n": self.random.randint(1, 25)}]
            steps.append({"op": "ask", "app": self.random.choice(apps), "asks": asks})
            steps += self.beats(self.random.randint(2, 8))
            if self.chance(0.15):
                steps.append({"op": "endApp", "app": apps.pop(self.random.randrange(len(apps)))})
            if not apps:
                break
        steps += [*self.beats(16), {"op": "dump"}]
        if self.preemption:
            steps += [{"op": "preempt"}, {"op": "clock", "ms": 16000}, {"op": "preempt"}, *self.beats(8), {"op": "dump"}]
        return steps + [{"op": "queueCheck"}]

    def beats(self, count):
        return [{"op": "hb", "node": f"n{self.random.randint(1, 4)}"} for _ in range(count)]


def properties(path):
    return {one.findtext("name"): one.findtext("value") or "" for one in tree.parse(path).getroot().iter("property")}


def scenario(name, generator, out):
    """The converter's yarn-site.xml and capacity-scheduler.xml; its monitor and class are what runs the scenario."""
    conf = {key: value for key, value in properties(out / "yarn-site.xml").items() if not key.endswith(("scheduler.class", "monitor.policies"))}
    capacity = properties(out / "capacity-scheduler.xml")
    capacity.update({key: conf.pop(key) for key in list(conf) if key.startswith("yarn.scheduler.capacity.")})
    conf["hadoop.user.group.static.mapping.overrides"] = ";".join(f"{user}={groups}" for user, groups in USERS.items())
    return {"name": name, "about": "output of fs2cs", "conf": dict(sorted(conf.items())), "capacity": dict(sorted(capacity.items())),
            "nodes": [{"host": f"n{i}", "rack": f"/r{i % 2}", "mem": 8192, "vc": 8} for i in range(1, 5)], "steps": generator.steps()}


def convert(directories, classes):
    """Runs the converter over all; the directories that it refuses."""
    jars = f"{peers.hadoop(VERSION)}/*"
    classes.mkdir(parents=True, exist_ok=True)
    subprocess.run([peers.java() + "c", "-d", classes, "-cp", jars, peers.HERE / "java/ConvertFairFiles.java"], check=True)
    run = subprocess.run([peers.java(), *peers.JVM, "-cp", f"{classes}:{jars}", "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.converter.ConvertFairFiles",
                          *directories], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return {line.removeprefix("refused ") for line in run.stdout.splitlines() if line.startswith("refused ")}


def main(count, to, seed=1):
    peers.fetch(f"hadoop-{VERSION}")
    scenarios = to / "scenarios"
    scenarios.mkdir(parents=True, exist_ok=True)
    made = {}
    for number in range(count):
        directory = to / "files" / f"fs2cs-{seed}-{number:03}"
        directory.mkdir(parents=True, exist_ok=True)
        generator = Generator(f"{seed}/{number}")
        (directory / "fair-scheduler.xml").write_text(generator.allocations())
        peers.write_site(directory / "yarn-site.xml", generator.site(directory))
        (directory / "options").write_text("\n".join(generator.options()))
        made[directory] = generator
    refused = convert(list(made), to / "classes")
    for directory, generator in made.items():
        if str(directory) not in refused:
            (scenarios / f"{directory.name}.json").write_text(json.dumps(scenario(directory.name, generator, directory / "out")) + "\n")
    print(f"{count - len(refused)} converted, {len(refused)} refused by the converter")


if __name__ == "__main__":
    main(int(sys.argv[1]), pathlib.Path(sys.argv[2]), *(int(word) for word in sys.argv[3:4]))
