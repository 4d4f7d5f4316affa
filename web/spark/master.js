// The Standalone Master's page: workers, applications, drivers, and why each waits. Everything shown comes from /json/,
// /fairlead/waiting, /fairlead/pages, /fairlead/notices and /fairlead/about.

import { addressOf, load as loadApplication, logsAt, pageOf } from "./application.js";
import { ask, el, get, live, mib, own, show, span, state, table, tile, time, whole } from "./parts.js";

// Of each custom resource how much is in use.
const resources = (all, used) => Object.values(all).map((r) => `${r.name} ${used[r.name]?.addresses.length ?? 0} of ${r.addresses.length}`).join(", ");

// Orders go by POST, after a question; the server refuses those of other sites' pages.
function killButton(kind, id) {
  const button = el("button", { type: "button", title: `kill ${id}` }, "kill");
  button.addEventListener("click", async () => {
    if (!await ask(el("p", {}, `End ${id} with all it has done so far?`), "Kill")) return;
    fetch(own(`${kind}/kill/`), { method: "POST", redirect: "manual", body: new URLSearchParams({ id, terminate: "true" }) }).then(load, load);
  });
  return el("div", { class: "chips" }, button);
}

const workerRow = (pages) => (w) => [whole(pageOf(pages, w.id, w.id)), state(w.state), `${w.coresused} of ${w.cores}`, `${mib(w.memoryused)} of ${mib(w.memory)}`,
  resources(w.resources, w.resourcesused), time(w.lastheartbeat)];
const appRow = (waiting, pages) => (a) => [whole(el("a", { href: addressOf(a.id) }, a.id)), pageOf(pages, a.id, a.name), a.user, state(a.state), a.cores, mib(a.memoryperexecutor), time(a.starttime), span(a.duration), waiting[a.id], killButton("app", a.id)];
const driverRow = (waiting, pages) => (d) => [whole(d.id), d.mainclass, state(d.state), d.cores, mib(d.memory), whole(pageOf(pages, d.worker, d.worker)), time(d.starttime), logsAt(pages, d.worker, { driverId: d.id }), waiting[d.id], killButton("driver", d.id)];

async function load() {
  const [master, waiting, pages, notices, about] = await Promise.all(["json/", "fairlead/waiting", "fairlead/pages", "fairlead/notices", "fairlead/about"].map((path) => get(own(path))));
  const apps = ["Application", "Name", "User", "State", "Cores", "Memory of an executor", "Since", "For", "Waits because", "End it"];
  const drivers = ["Driver", "Class", "State", "Cores", "Memory", "Worker", "Since", "Logs", "Waits because", "End it"];
  show("Standalone Master", [el("h1", {}, "Standalone Master"), el("p", { class: "soft" }, `${master.url}, ${master.status}, Spark ${about.release}, profile ${about.profile}${about.wishes === "none" ? "" : ` (wishes ${about.wishes})`}${about.rest_url ? `, drivers by REST at ${about.rest_url}` : ""}`),
    ...notices.map((notice) => el("p", { class: "why" }, notice)),
    el("div", { class: "tiles" }, tile("workers alive", master.aliveworkers), tile("cores in use", `${master.coresused} of ${master.cores}`),
      tile("memory in use", `${mib(master.memoryused)} of ${mib(master.memory)}`), tile("applications", master.activeapps.length), tile("drivers", master.activedrivers.length)),
    table("Workers", ["Worker", "State", "Cores", "Memory", "Resources", "Last heard"], master.workers.map(workerRow(pages)), "No worker has registered."),
    table("Applications", apps, master.activeapps.map(appRow(waiting, pages)), "None runs."),
    table("Drivers", drivers, master.activedrivers.map(driverRow(waiting, pages)), "None runs."),
    table("Applications that have ended", apps.slice(0, -2), master.completedapps.map((a) => appRow({}, {})(a).slice(0, -2)), "None yet."),
    table("Drivers that have ended", drivers.slice(0, -2), master.completeddrivers.map((d) => driverRow({}, pages)(d).slice(0, -2)), "None yet.")]);
}

live(location.pathname.endsWith("/app/") ? loadApplication : load);
