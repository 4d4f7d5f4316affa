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
            name = f"philly, {part} % of the largest use, {rule}: mean wait s (p95 {one['p95_wait_s']:.0f}, late starts {one['late']})"
            met = one["late"] == 0 and one["mean_wait_s"] <= fifo["mean_wait_s"]
            yield data.row(name, f"<= fifo ({fifo['mean_wait_s']:.1f}), no late start", None, round(one["mean_wait_s"], 1), met, further=one)
