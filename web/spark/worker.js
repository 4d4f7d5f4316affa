// The Standalone Worker's page: what runs here and what ran. Everything shown comes from /json/ and
// /fairlead/notices. Below /logPage/ its logs.

import { showLog } from "./log.js";
import { el, get, link, live, mib, own, show, table, tile, ways } from "./parts.js";

function logLink(run, type) {
  const query = new URLSearchParams({ appId: run.appid, executorId: run.id, logType: type });
  return el("a", { href: own(`logPage/?${query}`) }, type);
}
const idOf = (run) => `${run.appid}/${run.id}`;
const byNumber = (a, b) => idOf(a).localeCompare(idOf(b), "en", { numeric: true });
// The Master's page of the application tells how an executor ended, too.
const row = (master) => (run) => [idOf(run), link(`${master}/app/?${new URLSearchParams({ appId: run.appid })}`, run.appdesc.name),
  run.appdesc.user, mib(run.memory), logLink(run, "stdout"), logLink(run, "stderr")];

async function load() {
  const [worker, notices] = await Promise.all(["json/", "fairlead/notices"].map((path) => get(own(path))));
  const heads = ["Executor", "Application", "User", "Memory", "Output", "Errors"];
  if (/^https?:/.test(worker.masterwebuiurl)) ways([["Master", worker.masterwebuiurl]]);
  show("Standalone Worker", [el("h1", {}, "Standalone Worker"), el("p", { class: "soft" }, worker.id),
    ...notices.map((notice) => el("p", { class: "why" }, notice)),
    el("div", { class: "tiles" }, tile("cores in use", `${worker.coresused} of ${worker.cores}`), tile("memory in use", `${mib(worker.memoryused)} of ${mib(worker.memory)}`),
      tile("master", link(worker.masterwebuiurl, worker.masterurl || "none has taken it"))),
    table("Executors", heads, worker.executors.sort(byNumber).map(row(worker.masterwebuiurl)), "None runs."),
    table("Executors that have ended", heads, worker.finishedexecutors.sort(byNumber).map(row(worker.masterwebuiurl)), "None yet.")]);
}

if (location.pathname.includes("/logPage")) {
  showLog();
} else {
  live(load);
}
