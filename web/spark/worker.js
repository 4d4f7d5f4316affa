// The Standalone Worker's page: what runs here and what ran. Everything shown comes from /json/, /fairlead/runs and
// /fairlead/notices. Below /logPage/ its logs.

import { showLog } from "./log.js";
import { el, get, link, live, mib, own, show, state, table, tile, time, ways, whole } from "./parts.js";

const logs = (whose) => el("span", {}, ["stdout", "stderr"].flatMap((type) => [el("a", { href: own(`logPage/?${new URLSearchParams({ ...whose, logType: type })}`) }, type), " "]));
const resources = (run) => Object.values(run.resources).map((r) => `${r.name} ${r.addresses.join(" ")}`).join(", ");
const began = (run) => (run.started_ms > 0 ? time(run.started_ms) : "before the Worker's start");
// One that was told to end, or ended without an error, did as it should.
const itsState = (run) => state(run.state, run.state === "KILLED" || run.exit_code === 0 ? "" : undefined);
const itsEnd = (run) => [run.exit_code === null ? "" : `code ${run.exit_code}`, run.message].filter((text) => text).join(": ");

const SIZE = ["State", "Cores", "Memory", "Resources", "Started"];
const size = (run) => [itsState(run), String(run.cores), mib(run.memory_mib), resources(run), began(run)];
// The Master's page of the application has its executors elsewhere, too.
const executor = (master) => (run) => [whole(run.id), link(`${master}/app/?${new URLSearchParams({ appId: run.application })}`, run.name), run.user, ...size(run),
  logs({ appId: run.application, executorId: run.executor })];
const driver = (run) => [whole(run.id), run.main_class, ...size(run), logs({ driverId: run.id })];
const withEnd = (row) => (run) => [...row(run), time(run.ended_ms), itsEnd(run)];
const byNumber = (a, b) => a.id.localeCompare(b.id, "en", { numeric: true });

async function load() {
  const [worker, runs, notices] = await Promise.all(["json/", "fairlead/runs", "fairlead/notices"].map((path) => get(own(path))));
  const executors = ["Executor", "Application", "User", ...SIZE, "Logs"], drivers = ["Driver", "Class", ...SIZE, "Logs"], ends = ["Ended", "Its end"];
  const of = (kind, over) => runs.filter((run) => run.kind === kind && (run.ended_ms > 0) === over).sort(byNumber);
  const row = executor(worker.masterwebuiurl);
  if (/^https?:/.test(worker.masterwebuiurl)) ways([["Master", worker.masterwebuiurl]]);
  const used = Object.values(worker.resources).map((r) => tile(`${r.name} in use`, `${worker.resourcesused[r.name]?.addresses.length ?? 0} of ${r.addresses.length}`));
  show("Standalone Worker", [el("h1", {}, "Standalone Worker"), el("p", { class: "soft" }, worker.id),
    ...notices.map((notice) => el("p", { class: "why" }, notice)),
    el("div", { class: "tiles" }, tile("cores in use", `${worker.coresused} of ${worker.cores}`), tile("memory in use", `${mib(worker.memoryused)} of ${mib(worker.memory)}`),
      ...used, tile("master", link(worker.masterwebuiurl, worker.masterurl || "none has taken it"))),
    table("Executors", executors, of("executor", false).map(row), "None runs."),
    table("Drivers", drivers, of("driver", false).map(driver), "None runs."),
    table("Executors that have ended", [...executors, ...ends], of("executor", true).reverse().map(withEnd(row)), "None yet."),
    table("Drivers that have ended", [...drivers, ...ends], of("driver", true).reverse().map(withEnd(driver)), "None yet.")]);
}

if (location.pathname.includes("/logPage")) {
  showLog();
} else {
  live(load);
}
