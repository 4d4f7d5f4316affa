"""Profile `yarn-capacity`: applications that get another priority or queue while they wait and run, and queues that are made for them."""
import dataclasses

import cases_ha
from cases_capacity import CAPACITY, QUEUES, waiting_maps, yarn
from jobs import container_processes, require_end
from registry import case, require_success

# Room for one sleeping master in root.alpha: the next one waits for its turn.
ONE_AT_A_TIME = dataclasses.replace(CAPACITY, hadoop="3.4.3", capacity=QUEUES + (("root.alpha.maximum-am-resource-percent", "0.0001"),),
                                    yarn_site=(("yarn.cluster.max-application-priority", "10"),))


def application(cluster, *words):
    return yarn(cluster, "ApplicationCLI", "application", *words)


def updated_and_moved(cluster, work):
    """`yarn application -updatePriority` and `-movetoqueue`: who waits and who runs; both outlive the manager."""
    first = cluster.submit_sleeper()
    cluster.wait(lambda: cluster.has_container(first), "the first's container")
    second, third = cluster.submit_sleeper(), cluster.submit_sleeper()
    cluster.wait(lambda: {cluster.app(app)["state"] for app in (second, third)} == {"ACCEPTED"}, "two that wait")
    run = application(cluster, "-updatePriority", "5", "-appId", third)
    require_success(run, "yarn application -updatePriority")
    assert f"Successfully updated the application {third} with priority '5'" in run.stdout, run.stdout
    cluster.end_app(first)
    cluster.wait(lambda: cluster.has_container(third), "the third before the second")
    assert cluster.app(second)["runningContainers"] <= 0, cluster.app(second)
    run = application(cluster, "-movetoqueue", second, "-queue", "root.beta")
    require_success(run, "yarn application -movetoqueue")
    assert "Successfully completed move." in run.stdout, run.stdout
    cluster.wait(lambda: cluster.has_container(second), "a container in the other queue")
    refused = application(cluster, "-movetoqueue", second, "-queue", "root.nowhere")
    assert refused.returncode != 0 and "root.nowhere" in refused.stderr, refused.stdout + refused.stderr
    run = application(cluster, "-updatePriority", "99", "-appId", third)
    require_success(run, "a priority above the cluster's")
    assert "to cluster max priority" in run.stdout, run.stdout
    cluster.restart("rm")
    # A submission by REST without a priority has -1.
    for app, queue, priority in ((second, "root.beta", -1), (third, "root.alpha", 10)):
        cluster.wait(lambda app=app: cluster.has_container(app), "the container after the restart")
        assert (cluster.app(app)["queue"], cluster.app(app)["priority"]) == (queue, priority), cluster.app(app)
        cluster.end_app(app)
    moved_in_mid_job(cluster, work)


def moved_in_mid_job(cluster, work):
    """What a MapReduce job has counts in its new queue, and what it still asks for comes there."""
    job, maps = waiting_maps(cluster, work, 8), work / "maps"
    # A user gets no more beyond half of the cluster in either queue: six maps and the master.
    cluster.wait(lambda: job.running() and len(list(maps.glob("begun-*"))) == 6, "maps that stand still", 180)
    app = cluster.apps()[-1]
    require_success(application(cluster, "-movetoqueue", app["id"], "-queue", "root.beta"), "the move of a job that runs")
    assert cluster.app(app["id"])["queue"] == "root.beta", cluster.app(app["id"])
    known = queues(cluster)
    used = [known[path]["resourcesUsed"]["memory"] for path in ("root.alpha", "root.beta")]
    assert used == [0, 6 * 1024 + 768], used
    (maps / "gate").touch()
    finish(job, maps, 8)
    assert require_end(cluster, app["id"])["queue"] == "root.beta"


def finish(job, maps, count):
    """The job ends well, and no map ran twice."""
    job.finish()
    done, begun = ({path.name for path in maps.glob(f"{what}-*")} for what in ("done", "begun"))
    assert done == {f"done-{number}" for number in range(count)} and len(begun) == count, (sorted(done), sorted(begun))


def queues(cluster):
    """{path: queue} of the scheduler's document."""
    found, left = {}, [cluster.get("/ws/v1/cluster/scheduler")["scheduler"]["schedulerInfo"]]
    while left:
        queue = left.pop()
        found[queue["queuePath"]] = queue
        left += (queue.get("queues") or {}).get("queue", [])
    return found


# A parent with queues of the flexible way, and one with those of the older way.
MAKING = dataclasses.replace(CAPACITY, rm=None, hadoop="3.4.3", yarn_site=cases_ha.DEFAULTS, capacity=(
    ("root.queues", "alpha,teams,users"), ("root.alpha.capacity", "1w"), ("root.teams.capacity", "2w"), ("root.users.capacity", "1w"),
    ("maximum-am-resource-percent", "1"), ("root.teams.auto-queue-creation-v2.enabled", "true"), ("root.teams.*.auto-queue-creation-v2.leaf-template.capacity", "3w"),
    ("root.users.auto-create-child-queue.enabled", "true"), ("root.users.leaf-queue-template.capacity", "50"),
    ("root.users.leaf-queue-template.user-limit-factor", "4"), ("queue-mappings", "u:%user:root.users.%user")))
SHARE = ("capacity", "maxCapacity", "absoluteCapacity", "absoluteMaxCapacity", "weight", "queueType", "creationMethod", "state", "numApplications", "resourcesUsed")


def shares(cluster, paths):
    known = queues(cluster)
    return {path: {key: known[path][key] for key in SHARE} for path in paths}


def made_queues_kept(cluster, work):
    """The second manager makes the queues again, with the shares that they had; jobs stay in them, keep each container and get more."""
    jobs = {}
    for asked, made in (("root.teams.east.blue", "root.teams.east.blue"), ("default", "root.users." + cluster.user)):
        place = work / asked
        place.mkdir()
        job = waiting_maps(cluster, place, 8, asked)
        # The second job finds room for some of its maps.
        cluster.wait(lambda job=job, place=place, number=len(jobs): job.running() and len(list((place / "maps").glob("begun-*"))) == (8, 2)[number],
                     "maps that stand still", 180)
        app = cluster.apps()[-1]
        assert app["queue"] == made, app
        jobs[app["id"]] = (job, place / "maps", made)
    flexible, older = made = [queue for _, _, queue in jobs.values()]
    cluster.await_sums(12)
    before, programs = shares(cluster, made), {app: container_processes(app) for app in jobs}
    # What the templates say: the weight, and half of a quarter of the cluster.
    assert (before[flexible]["weight"], before[older]["absoluteCapacity"]) == (3, 12.5), before
    cases_ha.killed(cluster, cluster.await_active())
    cluster.await_sums(12)
    for app, (_, _, queue) in jobs.items():
        assert (cluster.app(app)["state"], cluster.app(app)["queue"]) == ("RUNNING", queue), cluster.app(app)
        assert container_processes(app) == programs[app], "a container was lost"
    after = shares(cluster, made)
    assert after == before, (before, after)
    for app, (job, maps, queue) in jobs.items():
        (maps / "gate").touch()
        finish(job, maps, 8)
        assert require_end(cluster, app)["queue"] == queue
        attempts = cluster.get(f"/ws/v1/cluster/apps/{app}/appattempts")["appAttempts"]["appAttempt"]
        assert len(attempts) == 1, attempts
    for asked, queue in (("root.teams.east.blue", "root.teams.east.blue"), ("root.teams.green", "root.teams.green"), ("default", "root.users." + cluster.user)):
        app = cluster.submit_sleeper(queue=asked)
        cluster.wait(lambda app=app: cluster.has_container(app), f"a container in {queue}")
        assert cluster.app(app)["queue"] == queue, cluster.app(app)


case("all", ONE_AT_A_TIME, own_cluster=True, name="capacity-priority-and-move")(updated_and_moved)
case("all", MAKING, own_cluster=True, name="capacity-made-queues-takeover")(
    lambda cluster, work: cases_ha.on_two(work, MAKING, made_queues_kept))
