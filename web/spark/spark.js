// The Standalone Master's page: workers, applications, drivers, and why each waits. Everything shown comes from /json/
// /fairlead/waiting and /fairlead/pages.

import { el, link, mib, span, state, table, tile, time } from "./parts.js";

const REFRESH_MS = 2000;
// A proxy may show this page below a path of its own; this file lies in static/ there too.
const own = (path) => new URL(`../${path}`, import.meta.url).href;
const main = document.getElementById("main");
const freshness = document.getElementById("freshness");

// Orders go by POST, after a question; the server refuses those of other sites' pages.
function killButton(kind, id) {
  const button = el("button", { type: "button", title: `kill ${id}` }, "kill");
  button.addEventListener("click", () => {
    if (!confirm(`Kill ${id}?`)) return;
    fetch(own(`${kind}/kill/`), { method: "POST", redirect: "manual", body: new URLSearchParams({ id, terminate: "true" }) }).then(poll, poll);
  });
  return button;
}

// To a worker's or driver's own page, or through this master's proxy.
const page = (pages, id, text) => (id in pages ? link(new URL(pages[id], own("")).href, text) : text);
const workerRow = (pages) => (w) => [page(pages, w.id, w.id), state(w.state), `${w.coresused} of ${w.cores}`, `${mib(w.memoryused)} of ${mib(w.memory)}`,
  Object.values(w.resources).map((r) => `${r.name} ${r.addresses.length}`).join(", "), time(w.lastheartbeat)];
const appRow = (waiting, pages) => (a) => [a.id, page(pages, a.id, a.name), a.user, state(a.state), a.cores, mib(a.memoryperexecutor), time(a.starttime), span(a.duration), waiting[a.id], killButton("app", a.id)];
const driverRow = (waiting) => (d) => [d.id, d.mainclass, state(d.state), d.cores, mib(d.memory), d.worker, time(d.starttime), waiting[d.id], killButton("driver", d.id)];

function show(master, waiting, pages) {
  document.getElementById("url").textContent = `${master.url}, ${master.status}`;
  const apps = ["Application", "Name", "User", "State", "Cores", "Memory of an executor", "Since", "For", "Waits because", ""];
  const drivers = ["Driver", "Class", "State", "Cores", "Memory", "Worker", "Since", "Waits because", ""];
  main.replaceChildren(
    el("div", { class: "tiles" }, tile("workers alive", master.aliveworkers), tile("cores in use", `${master.coresused} of ${master.cores}`),
      tile("memory in use", `${mib(master.memoryused)} of ${mib(master.memory)}`), tile("applications", master.activeapps.length), tile("drivers", master.activedrivers.length)),
    ...table("Workers", ["Worker", "State", "Cores", "Memory", "Resources", "Last heard"], master.workers.map(workerRow(pages)), "No worker has registered."),
    ...table("Applications", apps, master.activeapps.map(appRow(waiting, pages)), "None runs."),
    ...table("Drivers", drivers, master.activedrivers.map(driverRow(waiting)), "None runs."),
    ...table("Applications that have ended", apps.slice(0, -2), master.completedapps.map((a) => appRow({}, {})(a).slice(0, -2)), "None yet."),
    ...table("Drivers that have ended", drivers.slice(0, -2), master.completeddrivers.map((d) => driverRow({})(d).slice(0, -2)), "None yet."));
}

async function poll() {
  try {
    const [master, waiting, pages] = await Promise.all(["json/", "fairlead/waiting", "fairlead/pages"].map((path) => fetch(own(path)).then((answer) => answer.json())));
    show(master, waiting, pages);
    freshness.className = "";
    freshness.textContent = `as of ${new Date().toLocaleTimeString()}`;
  } catch (error) {
    freshness.className = "stale";
    freshness.textContent = `the master does not answer: ${error.message}`;
  }
}

async function refresh() {
  await poll();
  setTimeout(refresh, REFRESH_MS);
}

refresh();
