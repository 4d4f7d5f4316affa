// The Standalone Worker's page: what runs here and what ran. Everything shown comes from /json/.

import { el, link, mib, table, tile } from "./parts.js";

const REFRESH_MS = 2000;
// A proxy may show this page below a path of its own; this file lies in static/ there too.
const own = (path) => new URL(`../${path}`, import.meta.url).href;
const main = document.getElementById("main");
const freshness = document.getElementById("freshness");

function logLink(run, type) {
  const query = new URLSearchParams({ appId: run.appid, executorId: run.id, logType: type });
  return el("a", { href: own(`logPage/?${query}`) }, type);
}
const row = (run) => [`${run.appid}/${run.id}`, run.appdesc.name, run.appdesc.user, mib(run.memory), logLink(run, "stdout"), logLink(run, "stderr")];

function show(worker) {
  const heads = ["Executor", "Application", "User", "Memory", "", ""];
  document.getElementById("id").textContent = worker.id;
  main.replaceChildren(
    el("div", { class: "tiles" }, tile("cores in use", `${worker.coresused} of ${worker.cores}`), tile("memory in use", `${mib(worker.memoryused)} of ${mib(worker.memory)}`),
      tile("master", link(worker.masterwebuiurl, worker.masterurl || "none has taken it"))),
    ...table("Executors", heads, worker.executors.map(row), "None runs."),
    ...table("Executors that have ended", heads, worker.finishedexecutors.map(row), "None yet."));
}

async function refresh() {
  try {
    show(await (await fetch(own("json/"))).json());
    freshness.className = "";
    freshness.textContent = `as of ${new Date().toLocaleTimeString()}`;
  } catch (error) {
    freshness.className = "stale";
    freshness.textContent = `the worker does not answer: ${error.message}`;
  }
  setTimeout(refresh, REFRESH_MS);
}

refresh();
