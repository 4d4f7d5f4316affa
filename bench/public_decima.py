"""Decima's workload (SIGCOMM '19): TPC-H queries as jobs of stages that share 50 executors, in its environment."""
import public_data as data

FILES = ("tpch.json",)
SEEDS = range(10_000_000, 10_000_005)  # those of the publication's own tests
JOBS = 5000
FAIR, TRAINED, GOAL, MOST_P95 = 62.71, 59.99, 57.5, 1.02
MISJUDGED = 0.7  # of the work that is left: a factor between e^-0.7 and e^0.7 a job


def run(options, rule, *further, seeds=None):
    path = data.need(options.data, FILES[0])
    words = ["decima", "--rule", rule, "--jobs", options.jobs or JOBS, *further, "--seeds", *SEEDS[:seeds or options.seeds or len(SEEDS)]]
    return list(data.compute(options.build, words, data.text(path), path))


def figures(runs):
    return data.mean(one["mean_s"] for one in runs), data.mean(one["p95_s"] for one in runs)


def rows(options):
    fair = run(options, "equal")
    fair_mean, fair_p95 = figures(fair)
    first = fair[0]["mean_s"]
    yield data.row("decima, published run, its tuned heuristic (equal parts), mean s", "within 1 %", FAIR, round(first, 2), abs(first / FAIR - 1) < 0.01)
    if options.why:
        run(options, "work", "--why", options.why, seeds=1)
    ours = run(options, "work")
    ours_mean, ours_p95 = figures(ours)
    first = ours[0]["mean_s"]
    yield data.row("decima, published run, least work first, mean s", f"< {TRAINED}", TRAINED, round(first, 2), first < TRAINED)
    yield data.row(f"decima, {len(fair)} seeds, its tuned heuristic, mean s", "-", None, round(fair_mean, 2), True, runs=fair)
    yield data.row(f"decima, {len(ours)} seeds, least work first, mean s", f"<= {GOAL}", None, round(ours_mean, 2), ours_mean <= GOAL, runs=ours)
    part = ours_mean / fair_mean
    yield data.row(f"decima, {len(ours)} seeds, least work first / its heuristic", f"<= {GOAL / FAIR:.3f}", round(TRAINED / FAIR, 3), round(part, 3), part <= GOAL / FAIR)
    yield data.row(f"decima, {len(ours)} seeds, least work first, p95 s", f"<= {MOST_P95} x its heuristic's {fair_p95:.1f}", None, round(ours_p95, 1), ours_p95 <= MOST_P95 * fair_p95)
    wrong = run(options, "work", "--misjudged", MISJUDGED)
    wrong_mean, _ = figures(wrong)
    yield data.row(f"decima, {len(wrong)} seeds, work misjudged by up to e^0.7, mean s", f"< {TRAINED}", None, round(wrong_mean, 2), wrong_mean < TRAINED, runs=wrong)
