// The Standalone Master's page of one application (/app/?appId=ID): its executors, running and ended, each with its Worker and its logs.
// Everything shown comes from /app/json/, /fairlead/executors, /fairlead/waiting and /fairlead/pages.

import { el, get, link, mib, own, show, span, state, table, time, ways, whole } from "./parts.js";

const id = new URLSearchParams(location.search).get("appId") ?? "";
const named = new URLSearchParams({ appId: id });

export const addressOf = (application) => own(`app/?${new URLSearchParams({ appId: application })}`);

// To the own page of a worker or a driver, or through the Master's proxy.
export const pageOf = (pages, whose, text) => (whose in pages ? link(new URL(pages[whose], own("")).href, text) : text);

// What a worker keeps of the output of an executor (appId, executorId) or a driver (driverId).
export function logsAt(pages, worker, whose) {
  if (!(worker in pages)) return "";
  const links = ["stdout", "stderr"].flatMap((type) => [link(new URL(`logPage/?${new URLSearchParams({ ...whose, logType: type })}`, new URL(pages[worker], own(""))).href, type), " "]);
  return el("span", {}, links);
}

const row = (pages) => (one) => [String(one.id), executorState(one), whole(pageOf(pages, one.worker, one.worker)), String(one.cores), mib(one.memory_mib), one.started_ms > 0 ? time(one.started_ms) : "before the Master's start",
  logsAt(pages, one.worker, { appId: id, executorId: one.id })];
// One that the Master ended, and one that ended by itself without an error, did as it should.
const asItShould = ({ state: name, message }) => name === "KILLED" || (name === "EXITED" && /exited with code 0$/.test(message));
const executorState = (one) => el("span", {}, asItShould(one) ? state(one.state, "") : state(one.state),
  one.message ? el("div", { class: "soft" }, one.message) : "");

export async function load() {
  ways([["Master", own("")]]);
  const [app, executors, waiting, pages] = await Promise.all([`app/json/?${named}`, `fairlead/executors?${named}`, "fairlead/waiting", "fairlead/pages"].map((path) => get(own(path))));
  if (app === null) return show(id, [el("h1", {}, id), el("p", {}, "The Master knows no application of this id; it forgets the oldest ended ones.")]);
  const facts = [["State", state(app.state)], ["User", app.user], ["Cores", app.cores_max === null ? `${app.cores}, without a limit` : `${app.cores} of at most ${app.cores_max}`],
    ["Executors", app.executor_limit === null ? "as many as fit" : `at most ${app.executor_limit}`], ["Memory of an executor", mib(app.memoryperexecutor)],
    ["Resources of an executor", app.resourcesperexecutor.map((r) => `${r.name} ${r.amount}`).join(", ") || "none"], ["Since", time(app.starttime)], ["For", span(app.duration)]];
  show(app.name, [el("h1", {}, app.name), el("p", { class: "soft" }, id, ...(id in pages ? [" · ", pageOf(pages, id, "its driver's page")] : [])),
    ...(waiting[id] ? [el("h2", {}, "What it waits for"), el("p", { class: "why" }, waiting[id])] : []),
    el("dl", {}, facts.flatMap(([title, value]) => [el("dt", {}, title), el("dd", {}, value)])),
    table("Executors", ["Executor", "State", "Worker", "Cores", "Memory", "Started", "Logs"], executors.reverse().map(row(pages)), "None has been started.")]);
}
