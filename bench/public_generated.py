"""Data of the same shapes as the published ones, made up by a fixed seed: what runs where the real ones may not be."""
import datetime
import json
import random

SIZES = ("2g", "5g", "10g", "20g", "50g", "80g", "100g")
POINTS = (5, 10, 20, 40, 50, 60, 80, 100)


def decima(draw):
    queries = {}
    for scale, size in enumerate(SIZES, 1):
        for number in range(1, 23):
            stages = draw.randint(1, 6)
            durations = []
            for _ in range(stages):
                tasks, ms = draw.randint(1, 8 * scale), draw.randint(200, 3000)
                times = {"fresh_durations": {}, "first_wave": {}, "rest_wave": {}}
                for point in POINTS:
                    first = min(tasks, point)
                    fresh = [ms + draw.randint(500, 1500) for _ in range(first)]
                    times["fresh_durations"][str(point)] = fresh
                    times["first_wave"][str(point)] = fresh[:-1] + [ms]
                    times["rest_wave"][str(point)] = [ms - draw.randint(0, 100) for _ in range(tasks - first)]
                durations.append(times)
            queries[f"{size}/{number}"] = {"stages": stages, "edges": [[i, i + 1] for i in range(stages - 1)], "durations": durations}
    return json.dumps(queries)


def nodes(draw):
    rows = [f"openb-node-{i:04},{draw.choice((64000, 96000))},262144,{draw.choice((2, 4, 8))},{draw.choice(('T4', 'P100'))}" for i in range(60)]
    return "\n".join(["sn,cpu_milli,memory_mib,gpu,model", *rows, ""])


def pods(draw):
    rows = []
    for i in range(400):
        gpus = draw.choice((0, 1, 1, 1, 2, 8))
        share = draw.choice((200, 500, 1000)) if gpus == 1 else 1000 * (gpus > 0)
        rows.append(f"openb-pod-{i:04},{draw.choice((2000, 6000, 12000))},16384,{gpus},{share},,LS,Running,{i},{i + 9},{i}")
    return "\n".join(["name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time", *rows, ""])


def philly(draw):
    begin = datetime.datetime(2017, 10, 1)
    rows = []
    for _ in range(2000):
        at, seconds, gpus = begin + datetime.timedelta(seconds=draw.randint(0, 86400)), draw.expovariate(1 / 900) + 1, draw.choice((1, 1, 1, 2, 4, 8, 16))
        rows.append(f"{at:%Y-%m-%d %H:%M:%S},{seconds:.1f},{gpus},{seconds * gpus:.1f},{draw.choice(('6214e9', '11cb48'))}")
    return "\n".join(["timestamp,duration,num_gpus,gpu_time,cluster", *rows, ""])


def swf(draw):
    rows, at = [], 0
    for i in range(1, 10_001):
        at += draw.randint(1, 60)
        run, processors = draw.randint(1, 600), 1 << draw.randint(0, 5)
        rows.append(f"{i} {at} -1 {run} {processors} -1 -1 {processors} {run} -1 1 {i % 7} 1 -1 1 -1 -1 -1")
    return "; made up\n" + "\n".join(rows) + "\n"


def swim(draw):
    rows, at = [], 0
    for i in range(400):
        gap = draw.randint(0, 20)
        at += gap
        rows.append(f"job{i}\t{at}\t{gap}\t{draw.randint(1, 1 << 30)}\t{draw.randint(0, 1 << 28)}\t{draw.randint(0, 1 << 28)}")
    return "\n".join(rows) + "\n"


MAKERS = {"tpch.json": decima, "openb_node_list_gpu_node.csv": nodes, "openb_pod_list_default.csv": pods, "philly.csv": philly, "lublin1.swf": swf,
          "lublin2.swf": swf, "FB-2009_samples_24_times_1hr_0.tsv": swim}


def write(folder):
    for name, maker in MAKERS.items():
        (folder / name).write_text(maker(random.Random(name)), encoding="utf-8")
