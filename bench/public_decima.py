"""Decima's workload (SIGCOMM '19): TPC-H queries as jobs of stages that share 50 executors, in its environment."""
import public_data as data

FILES = ("tpch.json",)
SEEDS = range(10_000_000, 10_000_005)  # those of the publication's own tests
JOBS = 5000
FAIR, TRAINED, GOAL, MOST_P95 = 62.71, 59.99, 57.5, 1.02
MISJUDGED = 0.7  # of the work that is left: a factor between e^-0.7 and e^0.7 a job


def run(options, rule, *further):
    path = data.need(options.data, FILES[0])
    words = ["decima", "--rule", rule, "--jobs", options.jobs or JOBS, "--seeds", *SEEDS[:options.seeds or len(SEEDS)], *further]
    return list(data.compute(options.build, words, data.text(path), path))


def rows(options):
    fair = run(options, "equal")
    fair_mean, fair_p95 = data.mean(one["mean_s"] for one in fair), data.mean(one["p95_s"] for one in fair)
    yield data.row("decima, its tuned heuristic (equal shares), mean s", "within 1 %", FAIR, round(fair_mean, 2), abs(fair_mean / FAIR - 1) < 0.01, runs=fair)
    ours = run(options, "work")
    ours_mean, ours_p95 = data.mean(one["mean_s"] for one in ours), data.mean(one["p95_s"] for one in ours)
    yield data.row("decima, executors by work, mean s", f"<= {GOAL}", TRAINED, round(ours_mean, 2), ours_mean <= GOAL, runs=ours)
    yield data.row("decima, executors by work, p95 s", f"<= {MOST_P95} x equal shares ({fair_p95:.1f})", None, round(ours_p95, 1), ours_p95 <= MOST_P95 * fair_p95)
    wrong = run(options, "work", "--misjudged", MISJUDGED)
    wrong_mean = data.mean(one["mean_s"] for one in wrong)
    yield data.row("decima, executors by work misjudged by up to e^0.7, mean s", f"< {TRAINED}", TRAINED, round(wrong_mean, 2), wrong_mean < TRAINED, runs=wrong)
