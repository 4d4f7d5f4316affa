"""Microsoft's Philly trace (2017): jobs that want all of their GPUs at once. A pool has the largest use that the trace would make of it if nobody waited, or a
part of that: the trace does not say how large the clusters were."""
import public_data as data

FILES = ("philly.csv",)
PARTS = (100, 50, 25)  # percent of the largest use


def rows(options):
    path = data.need(options.data, FILES[0])
    for part in PARTS:
        results = {one["rule"]: one for one in data.compute(options.build, ["philly", "--part", part], data.lines(path), path)}
        fifo = results["fifo"]
        for rule, one in results.items():
            never = f", never starts: {one['never']}" if one["never"] else ""
            name = f"philly, {part} % of the largest use, {rule}: mean wait s (p95 {one['p95_wait_s']:.0f}, late starts {one['late']}{never})"
            wait = one["mean_wait_s"]
            goal, met = f"<= fifo ({fifo['mean_wait_s']:.1f}), no late start", one["late"] == 0 and wait <= fifo["mean_wait_s"]
            if rule == "yarn-fair":
                goal, met = "-", True
            elif rule == "yarn-fair, policy fifo":  # the same rule by Hadoop's own code
                goal, met = f"as fifo ({fifo['mean_wait_s']:.1f})", wait == fifo["mean_wait_s"] and one["p95_wait_s"] == fifo["p95_wait_s"]
            yield data.row(name, goal, None, round(wait, 1), met, further=one)
