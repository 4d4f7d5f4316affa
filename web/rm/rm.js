// The resource manager's pages: applications, queues, nodes, one of each, and what happened lately. Everything shown comes
// from /fairlead/v1; the address holds what is filtered and sorted, so a page can be sent to a colleague.

import { chart } from "/static/chart.js";
import { el, fetchSoon, mib, oldness, paused, span, time } from "/static/parts.js";

const REFRESH_MS = 2000;
const PAGE_SIZE = 50;
const main = document.getElementById("main");
const freshness = document.getElementById("freshness");

// ---- building elements

const cell = (content, kind) => el("td", kind ? { class: kind } : {}, content);

function table(heads, rows, empty) {
  if (rows.length === 0) return el("div", { class: "scroll" }, el("div", { class: "empty" }, empty));
  // On a phone a row is a card: each cell says itself what it is.
  for (const row of rows) heads.forEach((one, at) => row.children[at].dataset.label = one.textContent.replace(/ [▾▴]$/, ""));
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)));
}

const head = (title, kind) => el("th", { scope: "col", class: kind }, title);

// ---- words for numbers

const counted = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;
const amount = (resources) => `${mib(resources.memory_mib)}, ${counted(resources.vcores, "core")}`;

const when = (ms) => cell(time(ms), "id");

// What a node says of a container's end, without times and headings that say nothing: from the first line that tells of an
// error, else the last lines. The log has all.
const SAYS_NOTHING = /^(Exception from container-launch\.|Container id: .*|Exit code: .*|Container exited with a non-zero exit code.*|Container killed on request\..*|Last \d+ bytes of .*|Failing this attempt\..*)?$/;
const BRIEF = 240;
function brief(text) {
  const told = (text ?? "").split("\n").map((line) => line.replace(/^\[[\d .:-]+\]/, "").trim()).filter((line) => !SAYS_NOTHING.test(line));
  const error = told.findIndex((line) => /error|exception|abort|fatal|fail|cannot|killed/i.test(line));
  const all = (error < 0 ? told.slice(-2) : told.slice(error, error + 2)).join(" ");
  return all.length > BRIEF ? `${all.slice(0, BRIEF)}…` : all + (told.length > 2 ? " …" : "");
}
const share = (part, whole) => (whole > 0 ? Math.min(1, part / whole) : 0);
const percent = (fraction) => `${(fraction * 100).toFixed(1)}%`;
const words = (name) => name.toLowerCase().replaceAll("_", " ");

const STATE_KINDS = {
  RUNNING: "run", ACCEPTED: "wait", SUBMITTED: "wait", FINISHED: "good", FAILED: "bad", KILLED: "bad",
  DECOMMISSIONING: "wait", DECOMMISSIONED: "", LOST: "bad", UNHEALTHY: "bad", SHUTDOWN: "",
};

function state(app) {
  const failed = app.state === "FINISHED" && app.final_status !== "SUCCEEDED";
  const text = failed ? `FINISHED, ${app.final_status}` : app.state;
  return el("span", { class: `state ${failed ? "bad" : STATE_KINDS[app.state] ?? ""}` }, text);
}

// A bar of used over whole, with what is asked for behind it and a mark at the fair share.
function bar(whole, used, { demand, mark, label }) {
  const children = [];
  if (demand !== undefined) children.push(el("i", { class: "demand", style: `width:${percent(share(demand, whole))}` }));
  children.push(el("i", { style: `width:${percent(share(used, whole))}` }));
  if (mark !== undefined) children.push(el("u", { style: `left:clamp(0px, ${percent(share(mark, whole))} - 1px, 100% - 2px)` }));
  return el("div", { class: "bar", role: "img", "aria-label": label, title: label }, children);
}

// ---- the address

const query = () => new URLSearchParams(location.search);

let fromTop = false;  // another page is shown next, from its beginning

function go(path, changes = {}, how = "pushState") {
  fromTop ||= path !== location.pathname;
  const next = path === location.pathname ? query() : new URLSearchParams();
  for (const [key, value] of Object.entries(changes)) value ? next.set(key, value) : next.delete(key);
  const text = next.toString();
  history[how](null, "", path + (text ? `?${text}` : ""));
  render();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || !pageOf(url.pathname)) return;
  event.preventDefault();
  history.pushState(null, "", url);
  fromTop = true;
  render();
});
addEventListener("popstate", () => {
  document.activeElement?.blur();  // a field shows what the address says again
  render();
});

// What the address chooses, each with a way to choose it no more.
const filtersOf = (path, keys) => keys.filter((key) => query().get(key)).map((key) => el("button", { "aria-pressed": "true", title: "Remove this filter", onclick: () => go(path, { [key]: "", offset: "" }) }, `${key} ${query().get(key)} ×`));

// Where access lists are on, ?user.name=NAME once says who asks, as everywhere in Hadoop's simple authentication.
let caller = new URLSearchParams(location.search).get("user.name") ?? sessionStorage.getItem("user.name");
if (caller) sessionStorage.setItem("user.name", caller);

const asCaller = (path) => (caller ? `${path}${path.includes("?") ? "&" : "?"}user.name=${encodeURIComponent(caller)}` : path);

// `?at=` shows the cluster as it was at that moment (milliseconds), where that can be told.
const PAST = /^(cluster|apps|nodes|queues)(\?|$)/;
const atAsked = () => Number(query().get("at")) || 0;
const inPast = (path) => (atAsked() && PAST.test(path) ? `past/${path}${path.includes("?") ? "&" : "?"}at=${atAsked()}` : path);

async function get(asked) {
  const path = inPast(asked);
  const response = await fetchSoon(asCaller(`/fairlead/v1/${path}`), { headers: { Accept: "application/json" } });
  if (response.status === 404 && path !== asked) throw new Error((await response.json()).error);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.json();
}

// ---- what operators do: asked first, in whose name, and told what came of it

const dialog = document.getElementById("ask");

// What would change by the action, asked for within its dialog. `changes`: gives those of what-if; `claim`: says in whose name.
function foreseen(changes, claim) {
  const told = el("div", { "aria-live": "polite" });
  const button = el("button", { type: "button", onclick: async () => {
    claim();
    button.disabled = true;
    told.replaceChildren(el("p", { class: "soft" }, "Two hours are looked ahead …"));
    const answer = await send("POST", "/fairlead/v1/what-if", { changes: changes(), for: "2h" }).catch((error) => ({ sentences: [`Nobody can tell: ${error.message}`] }));
    told.replaceChildren(...answer.sentences.map((sentence) => el("p", {}, sentence)));
    button.disabled = false;
  } }, "What would change?");
  return [told, button];
}

// `field`: {label, value} of a text to be given, or undefined; `changes`: that text as changes of what-if, where there are any.
// Resolves to the text ("" without a field), or null: not done.
function confirmed(question, verb, field, changes) {
  const name = el("input", { id: "who", value: caller ?? "", autocomplete: "username", placeholder: "dr.who" });
  const given = field && el("input", { id: "given", value: field.value, required: "" });
  const text = () => (given ? given.value.trim() : "");
  const claim = () => {
    caller = name.value.trim() || null;
    caller ? sessionStorage.setItem("user.name", caller) : sessionStorage.removeItem("user.name");
  };
  const [told, preview] = changes ? foreseen(() => changes(text()), claim) : [];
  return new Promise((resolve) => {
    const form = el("form", { method: "dialog", onsubmit: () => {
      claim();
      resolve(text());
    } },
    el(typeof question === "string" ? "p" : "div", {}, question), field && el("label", {}, field.label, given), el("label", {}, "In the name of", name), told,
    el("div", { class: "chips" }, el("button", { class: "act" }, verb), preview, el("button", { type: "button", onclick: () => dialog.close() }, "Leave it")));
    dialog.onclose = () => { resolve(null); render(); };
    dialog.replaceChildren(form);
    dialog.showModal();
    (given ?? name).focus();
  });
}

// The answer of a changing call; throws what it was refused with.
async function send(method, path, body) {
  const response = await fetch(asCaller(path), { method, headers: { Accept: "application/json", "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? answer.RemoteException?.message ?? response.statusText);
  return answer;
}

const act = (method, path, body) => send(method, path, body).then(() => "Done.");

function action(title, question, field, then, changes) {
  return el("button", { onclick: async () => {
    const given = await confirmed(question, title, field, changes);
    if (given === null) return;
    outcome = await then(given).catch((error) => `Not done: ${error.message.replaceAll(/([a-z]\w*\.)+[A-Z]\w*: /g, "")}`);
    outcomeUntil = Date.now() + (outcome.startsWith("Not done") ? NOT_DONE_MS : DONE_MS);
    render();
  } }, title);
}
const actions = (...buttons) => atAsked() ? undefined : el("div", { class: "chips actions" }, buttons);

// ---- what happened lately, and how it went

const SIGNALS = { 1: "SIGHUP", 2: "SIGINT", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV: segmentation fault", 13: "SIGPIPE", 15: "SIGTERM" };
const EXITS = { "-100": "released", "-101": "its node's disks failed", "-102": "taken back", "-103": "more virtual memory than asked for",
  "-104": "more memory than asked for", "-105": "ended by its master", "-106": "ended by the resource manager", "-107": "ended with its application", "-108": "ended by the scheduler" };
const SAID = { "Container preempted by scheduler": "taken back for another queue", "Container of a completed application": "ended with its application", "Container released on a *lost* node": "its node was lost", "Container released by application": "given back by its master" };
const SHELL = { 126: ": its program may not be run", 127: ": its program was not found" };
// How a container ended, and what is said of it beyond that.
const howEnded = ({ exit_status: status, detail }) => ([-100, -102].includes(status) && SAID[detail?.trim()] ? [SAID[detail.trim()], ""] : [exitWords(status), brief(detail)]);
const exitWords = (status) => (status === undefined || status === -1000 ? "" : status === 0 ? "succeeded" : EXITS[status] ?? (SIGNALS[status - 128] ? `${status}: ${SIGNALS[status - 128]}` : `exit status ${status}${SHELL[status] ?? ""}`));

const queueLink = (queue) => (queue ? el("a", { href: `/cluster/queue/${encodeURIComponent(queue)}` }, queue) : "");
const nodeLink = (id) => (id ? el("a", { href: `/cluster/node/${encodeURIComponent(id)}` }, id) : "");
const userLink = (user) => el("a", { href: `/cluster?${new URLSearchParams({ user })}` }, user);
const logsAddress = (http, container, user) => asCaller(`http://${http}/node/containerlogs/${container}/${encodeURIComponent(user)}`);
const appLink = (id) => (id ? el("a", { href: `/cluster/app/${id}` }, id) : "");

const PLACES = { NODE_LOCAL: "on a node that was asked for", RACK_LOCAL: "on a rack that was asked for", OFF_SWITCH: "on any node" };

// "application_1_1 is RUNNING: ATTEMPT_REGISTERED", without what stands beside it already.
function eventDetail(event) {
  if (event.kind === "granted") return PLACES[event.detail] ?? event.detail;
  if (event.kind !== "state") return howEnded(event).filter(Boolean).join(": ");
  const [, who, now, why, more] = /^(\S+) is (\w+): (\w+)(: .*)?$/.exec(event.detail) ?? [];
  if (!who) return event.detail;
  const attempt = /^appattempt_.*_0*(\d+)$/.exec(who);
  return `${attempt ? `attempt ${attempt[1]} is ` : who === event.app || who === event.node ? "" : `${who} is `}${now}: ${words(why)}${more ?? ""}`;
}

// `known`: the columns that say the same in every row of this page; `user`: whose application it is of, where it is one's.
function eventTable(events, known = [], user = undefined) {
  const subject = ({ app, container, http_address: http, node_gone: gone }) => {
    if (user === undefined) return container ? el("a", { href: `/cluster/app/${app}` }, container) : appLink(app);
    return container && http && !gone ? el("a", { href: logsAddress(http, container, user) }, container) : container ?? "";
  };
  const columns = [["When", undefined, (event) => when(event.at_ms)],
    ["What", undefined, (event) => cell(el("span", { class: ["preempted", "refused"].includes(event.kind) || event.exit_status > 0 ? "why" : "" }, event.kind))],
    [known.includes("app") ? "Container" : "Container or application", undefined, (event) => cell(subject(event), "id")],
    ["Queue", undefined, (event) => cell(queueLink(event.queue))], ["Node", undefined, (event) => cell(nodeLink(event.node))],
    ["Size", "number", (event) => cell(event.size ? amount(event.size) : "", "number")], ["In detail", undefined, (event) => cell(eventDetail(event), "detail")]]
    .filter(([title]) => !known.includes(title));
  return table(columns.map(([title, kind]) => head(title, kind)), events.map((event) => el("tr", {}, columns.map(([, , make]) => make(event)))), "Nothing that is remembered.");
}

const allOf = (filter) => el("p", {}, el("a", { href: `/cluster/events?${new URLSearchParams(filter)}` }, "All that is remembered"));

async function happenings(filter, { limit = 30, known = [] } = {}) {
  const { events } = await get(`events?${new URLSearchParams({ ...filter, limit })}`);
  return eventTable(events, known);
}

const SPANS = [["3600", "hour"], ["86400", "day"], ["2592000", "month"]];
const mebibytes = (value) => mib(Math.round(value));

async function charts(queue) {
  if (atAsked()) return [];
  const span = query().get("span") ?? "3600";
  const { samples } = await get(`history?${new URLSearchParams({ queue, span_s: span })}`);
  const times = samples.map((sample) => sample.at_ms);
  const values = (key) => samples.map((sample) => sample[key] ?? null);
  const rate = samples.map((sample, at) => (at === 0 ? null : (1000 * Math.max(0, sample.granted - samples[at - 1].granted)) / Math.max(1, sample.at_ms - samples[at - 1].at_ms)));
  const whole = queue === "root";
  const chips = SPANS.map(([key, title]) => el("button", { "aria-pressed": span === key, onclick: () => go(location.pathname, { span: key === "3600" ? "" : key }) }, title));
  return [el("h2", {}, "How it went"), el("div", { class: "chips" }, chips), el("div", { class: "charts" },
    chart("Memory", times, [{ label: "in use", kind: "used", values: values("used_mib") }, { label: whole ? "whole" : "fair share", kind: "mark", values: values(whole ? "capacity_mib" : "fair_share_mib") },
      { label: "waiting for", kind: "wait", values: values("pending_mib") }], mebibytes),
    chart("Applications", times, [{ label: "runnable", kind: "used", values: values("runnable_apps") }, { label: "waiting", kind: "wait", values: values("waiting_apps") }], (value) => String(Math.round(value * 10) / 10)),
    whole ? chart("Containers granted per second", times, [{ label: "now", kind: "used", values: rate }], (value) => value.toFixed(1)) : undefined)];
}

// ---- applications

const GROUPS = [["", "All"], ["running", "Running"], ["waiting", "Pending"], ["ended", "Ended"]];
const COLUMNS = [["id", "Application"], ["name", "Name"], ["user", "User"], ["queue", "Queue"], ["state", "State"],
  ["containers", "Containers", "number"], ["memory", "Memory", "number"], ["submitted", "Submitted"], ["elapsed", "Duration", "number"]];

function tiles(cluster) {
  const { used, capacity } = cluster;
  const tile = (title, value, ...more) => el("div", { class: "tile" }, el("span", { class: "soft" }, title), el("b", {}, value), ...more);
  const meter = (title, key, text) => tile(title, `${text(used[key])} of ${text(capacity[key])}`,
    bar(capacity[key], used[key], { label: `${title}: ${percent(share(used[key], capacity[key]))} used` }));
  const nodes = cluster.nodes;
  const troubled = Object.entries(nodes).filter(([name, count]) => name !== "RUNNING" && count > 0).map(([name, count]) => `${count} ${words(name)}`);
  const waiting = Object.entries(cluster.waiting ?? {}).sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${count} wait${count === 1 ? "s" : ""}: ${words(reason)}`);
  const unread = cluster.unread_rows ? tile("State", `${cluster.unread_rows} not read`, el("span", { class: "why" }, `left out of this run and kept, ${cluster.unread_first} for one; the log tells more`)) : "";
  return el("div", { class: "tiles" }, unread, meter("Memory", "memory_mib", mib), meter("Cores", "vcores", String),
    tile("Applications", `${cluster.apps.RUNNING ?? 0} running`, el("span", { class: "soft" }, `${(cluster.apps.ACCEPTED ?? 0) + (cluster.apps.SUBMITTED ?? 0)} pending`)),
    tile("Containers", `${cluster.containers} running`, el("span", { class: waiting.length ? "why" : "soft" }, waiting.join(", ") || (cluster.waiting ? "none waits" : ""))),
    tile("Nodes", `${nodes.RUNNING ?? 0} running`, el("span", { class: troubled.length || !nodes.RUNNING ? "why" : "soft" }, troubled.join(", ") || (nodes.RUNNING ? "none in trouble" : "nothing can run"))));
}

function sortHead([key, title, kind], current) {
  const descending = current === `-${key}`;
  const sorted = descending || current === key;
  const button = el("button", { onclick: () => go(location.pathname, { sort: sorted && !descending ? `-${key}` : key, offset: "" }) },
    title + (sorted ? (descending ? " ▾" : " ▴") : ""));
  return el("th", { scope: "col", class: kind, "aria-sort": sorted ? (descending ? "descending" : "ascending") : undefined }, button);
}

function applicationRow(app) {
  const waits = app.pending ? el("div", { class: "why" }, `waits for ${app.pending.count} × ${amount(app.pending.capability)}: ${words(app.pending.reason)}`) : undefined;
  return el("tr", {}, cell(el("a", { href: `/cluster/app/${app.id}` }, app.id), "id"), cell(app.name), cell(userLink(app.user)),
    cell(queueLink(app.queue)), cell([state(app), waits]),
    cell(String(app.containers), "number"), cell(mib(app.used.memory_mib), "number"), when(app.submitted_ms), cell(span(app.elapsed_ms), "number"));
}

const offsetAsked = () => Math.max(0, Math.floor(Number(query().get("offset"))) || 0);

function pages(path, total) {
  const offset = offsetAsked();
  const last = Math.min(offset + PAGE_SIZE, total);
  return el("div", { class: "pager" },
    el("button", { disabled: offset === 0 && "", onclick: () => go(path, { offset: String(Math.max(0, offset - PAGE_SIZE)) }) }, "Previous"),
    el("button", { disabled: last >= total && "", onclick: () => go(path, { offset: String(offset + PAGE_SIZE) }) }, "Next"),
    el("span", { class: "soft" }, offset < total ? `${offset + 1}–${last} of ${total}` : `none of ${total} here`));
}

async function applications() {
  const asked = query();
  const sort = asked.get("sort") ?? "-id";
  const request = new URLSearchParams({ sort, offset: offsetAsked(), limit: PAGE_SIZE });
  for (const key of ["group", "text", "queue", "user"]) if (asked.get(key)) request.set(key, asked.get(key));
  const [cluster, list] = await Promise.all([get("cluster"), get(`apps?${request}`)]);
  const search = el("input", { type: "search", placeholder: "Search id, name, user, queue   ( / )", "aria-label": "Search applications", value: asked.get("text") ?? "", id: "search" });
  search.addEventListener("input", () => { clearTimeout(search.timer); search.timer = setTimeout(() => go("/cluster", { text: search.value, offset: "" }, "replaceState"), 250); });
  const chips = GROUPS.map(([key, title]) => el("button", { "aria-pressed": (asked.get("group") ?? "") === key, onclick: () => go("/cluster", { group: key, offset: "" }) }, title));
  const filters = filtersOf("/cluster", ["queue", "user"]);
  const pager = pages("/cluster", list.total);
  const narrowed = ["text", "group", "queue", "user"].some((key) => asked.get(key));
  return ["Applications", tiles(cluster), el("h2", {}, "Applications"),
    el("div", { class: "tools" }, search, el("div", { class: "chips" }, chips, filters)),
    table(COLUMNS.map((column) => sortHead(column, sort)), list.apps.map(applicationRow), narrowed ? "No application matches." : "There is no application yet."), pager, ...(await charts("root"))];
}

// ---- one application

function waiting(pending, ended) {
  const rows = pending.map((ask) => el("tr", {}, cell(`${ask.count} × ${amount(ask.capability)}`), cell(ask.name === "*" ? "any node" : ask.name), cell(span(ask.waiting_ms), "number"),
    cell(el("span", { class: "why" }, words(ask.reason))), cell([el("div", {}, ask.detail), ask.remedy ? el("div", { class: "soft" }, ask.remedy) : undefined])));
  return table([head("Asked for"), head("Where"), head("Waits", "number"), head("Because"), head("In detail, and what would free it")], rows, ended ? "Nothing: it has ended." : "Nothing: every ask has been granted.");
}

// When what it waits for starts. The answer is worked out from the whole cluster: it is asked for every half minute, and shown when it is there.
const ESTIMATE_MS = 30_000;
let estimate = { id: "", at: 0, answer: null };
function starts(app) {
  if (app.pending.length === 0) return [];
  if (estimate.id !== app.id || Date.now() - estimate.at > ESTIMATE_MS) {
    const asked = { id: app.id, at: Date.now(), answer: estimate.id === app.id ? estimate.answer : null };
    estimate = asked;
    get(`apps/${app.id}/when`).then((answer) => { asked.answer = answer; }, () => {});
  }
  if (!estimate.answer) return [];
  const { asks, held } = estimate.answer;
  const moment = (of) => (of.p50_ms === undefined ? "unknown" : `in ${span(of.p50_ms)}, ${of.p90_ms === undefined ? "perhaps much later" : `in 9 of 10 cases within ${span(of.p90_ms)}`}`);
  const rows = asks.map((ask) => el("tr", {}, cell(`${ask.count} × ${amount(ask.capability)}`), cell(moment(ask.first)), cell(moment(ask.all)), cell(ask.reason)));
  const share = (part) => `${Math.floor(part * 100 / held.estimates)} %`;
  const kept = held.estimates > 0 ? `Of ${counted(held.estimates, "estimate")} so far ${share(held.within_p90)} were served by what 9 of 10 cases were to take, ${share(held.close)} within a minute or a tenth of the wait${held.median_error === undefined ? "" : `; half of them were off by at most ${Math.round(held.median_error * 100)} % of the wait`}.` : "No estimate has come to its time yet.";
  return [el("h2", {}, "When it starts"), table([head("Asked for"), head("The first"), head("All"), head("Because")], rows, "Nothing waits any more."), el("p", { class: "soft" }, kept)];
}

const logs = (http, container, user, gone) => (gone ? el("span", { class: "soft" }, "its node is gone") : http ? el("a", { href: logsAddress(http, container, user) }, "logs") : undefined);

// A job of the engine: its driver shows what it does, and afterwards the node that keeps the driver's event log.
function ownPage(app) {
  const { http_address: http, node_gone: gone } = app.attempts.at(-1) ?? {};
  if (app.finished_ms > 0 && gone) return "what it kept for its page went with its node";
  if (app.type !== "FAIRLEAD" || app.finished_ms === 0 || !http) return el("a", { href: asCaller(`/proxy/${app.id}/`) }, "the master's own page");
  return el("a", { href: `http://${http}/static/history.html?${new URLSearchParams({ app: app.id, ...(caller ? { "user.name": caller } : {}) })}` }, "its history");
}

// How far nodes have come with its logs, where they gather them.
function gathered({ status, nodes }) {
  if (!status || status === "DISABLED") return [];
  const rows = nodes.map((one) => el("tr", {}, cell(nodeLink(one.node)), cell(words(one.status)), cell(one.messages, "detail"), cell(el("span", { class: "why" }, one.failures), "detail")));
  return [el("h2", {}, `Logs: ${words(status)}`), table([head("Node"), head("State"), head("It said"), head("What failed")], rows, status === "SUCCEEDED" ? "All nodes have gathered them." : "It has run on no node.")];
}

async function application(id) {
  const app = await get(`apps/${encodeURIComponent(id)}`);
  if (!app) return [id, el("h1", {}, id), el("p", {}, "The resource manager knows no application of this id; it forgets the oldest ended ones.")];
  const facts = [["State", state(app)], ["User", userLink(app.user)], ["Queue", queueLink(app.queue)], ["Type", app.type],
    ["Priority", String(app.priority)], ["Submitted", time(app.submitted_ms)], ["Ended", time(app.finished_ms)], ["Duration", span(app.elapsed_ms)],
    ["Holds", `${counted(app.containers, "container")}, ${amount(app.used)}`], ...(app.finished_ms > 0 && app.final_status !== "SUCCEEDED" ? [] : [["Progress", percent(app.progress)]])];
  const attempts = app.attempts.map((attempt) => el("tr", {}, cell(attempt.id, "id"), cell(words(attempt.state)), cell(nodeLink(attempt.node)),
    cell(logs(attempt.http_address, attempt.master, app.user, attempt.node_gone)), cell([exitWords(attempt.exit_status), brief(attempt.diagnostics)].filter(Boolean).join(": "), "detail")));
  const running = app.running.map((container) => el("tr", {}, cell(container.id, "id"), cell(words(container.state)), cell(nodeLink(container.node)), cell(amount(container.resources)),
    cell(String(container.priority), "number"), when(container.created_ms), cell(logs(container.http_address, container.id, app.user))));
  const { events } = await get(`events?${new URLSearchParams({ app: id, limit: 1000 })}`);
  const over = events.filter((event) => ["ended", "preempted"].includes(event.kind)).map((event) => el("tr", {}, cell(event.container, "id"), cell(nodeLink(event.node)), when(event.at_ms),
    cell(el("span", { class: event.exit_status > 0 || event.kind === "preempted" ? "why" : "" }, howEnded(event)[0])), cell(howEnded(event)[1], "detail"), cell(logs(event.http_address, event.container, app.user, event.node_gone))));
  const rest = (part, body) => act("PUT", `/ws/v1/cluster/apps/${app.id}/${part}`, body);
  const buttons = app.finished_ms > 0 ? undefined : actions(
    action("Kill", `End ${app.name || id} (${id}) with all it has done so far?`, undefined, () => rest("state", { state: "KILLED" }), () => [`kill ${app.id}`]),
    action("Move", `Move ${app.name || id} to another queue?`, { label: "Queue", value: app.queue }, (queue) => rest("queue", { queue }), (queue) => [`move ${app.id}=${queue}`]),
    action("Priority", `Change the priority of ${app.name || id} within its queue?`, { label: "Priority", value: String(app.priority) }, (priority) => rest("priority", { priority: Number(priority) })));
  return [app.name || id, el("h1", {}, app.name || id), el("div", { class: "soft" }, app.id, " · ", ownPage(app)),
    ...(app.finished_ms > 0 ? [] : [el("h2", {}, "What it waits for"), waiting(app.pending, false), ...starts(app)]),
    el("dl", {}, facts.flatMap(([title, value]) => [el("dt", {}, title), el("dd", {}, value)])), buttons,
    ...(app.diagnostics ? [el("h2", {}, "Diagnostics"), el("pre", {}, app.diagnostics)] : []),
    el("h2", {}, "Attempts"), table([head("Attempt"), head("State"), head("Node of the master"), head("Logs"), head("Diagnostics")], attempts, "No attempt has begun."),
    el("h2", {}, "Containers"), table([head("Container"), head("State"), head("Node"), head("Size"), head("Priority", "number"), head("Since"), head("Logs")], running, "It holds no container."),
    el("h2", {}, "Containers that have ended"), table([head("Container"), head("Node"), head("Ended"), head("How"), head("In detail"), head("Logs")], over, "None that is remembered."),
    ...gathered(app.logs),
    el("h2", {}, "Lately"), eventTable(events.slice(0, 50), ["app", "Queue"], app.user), allOf({ app: id })];
}

// ---- queues

function queueRow(queue, cluster) {
  const depth = queue.name.split(".").length - 1;
  const whole = Math.max(1, Math.min(cluster.memory_mib, queue.max_share.memory_mib));
  const label = `uses ${mib(queue.used.memory_mib)}, fair share ${mib(queue.fair_share.memory_mib)}, asks for ${mib(queue.demand.memory_mib)}, at most ${mib(whole)}`;
  const name = el("a", { href: `/cluster/queue/${encodeURIComponent(queue.name)}` }, queue.name.split(".").pop());
  return el("tr", {}, el("td", { style: `--depth:${depth}` }, name),
    el("td", { style: "min-width:16rem" }, bar(cluster.memory_mib, queue.used.memory_mib, { demand: queue.demand.memory_mib, mark: queue.fair_share.memory_mib, label })),
    cell(mib(queue.used.memory_mib), "number"), cell(mib(queue.fair_share.memory_mib), "number"), cell(mib(queue.demand.memory_mib), "number"), cell(mib(whole), "number"),
    cell(`${queue.used.vcores} / ${queue.fair_share.vcores}`, "number"), cell(String(queue.weight), "number"), cell(String(queue.runnable_apps), "number"),
    cell(String(queue.waiting_apps), "number"), cell(queue.policy));
}

async function queues() {
  const answer = await get("queues");
  const order = answer.queues.sort((a, b) => (a.name < b.name ? -1 : 1));
  const refresh = action("Refresh", "Read the queues' file again and take it into use?", undefined, () => act("POST", "/fairlead/v1/queues/refresh", {}));
  return ["Queues", el("h1", {}, "Queues"), actions(refresh), el("p", { class: "soft" }, "Filled: used. Pale: asked for. Line: the fair share, as it is at this moment. The bar's length is the cluster's memory."),
    table([head("Queue"), head("Memory"), head("Used", "number"), head("Fair share", "number"), head("Demand", "number"), head("At most", "number"), head("Cores / fair", "number"),
      head("Weight", "number"), head("Runnable", "number"), head("Waiting", "number"), head("Policy")], order.map((queue) => queueRow(queue, answer.cluster)), "There is no queue."), ...(await charts("root"))];
}

// A setting in the file that holds the queues: first what would differ is shown, then it is written, if nobody else has since.
async function changeQueue(name, given) {
  const [setting, ...rest] = given.split("=");
  const path = `/fairlead/v1/queues/${encodeURIComponent(name)}/settings`;
  const settings = { [setting.trim()]: rest.join("=").trim() };
  const preview = await send("PUT", path, { settings });
  if (preview.differs === "") return "Nothing changes.";
  if (await confirmed([el("p", {}, `${preview.file} would differ:`), el("pre", {}, preview.differs)], "Write and take into use") === null) return "Left as it is.";
  return act("PUT", path, { settings, version: preview.version });
}

async function queue(name) {
  const answer = await get("queues");
  const own = answer.queues.find((one) => one.name === name);
  if (!own) return [name, el("h1", {}, name), el("p", {}, "There is no such queue.")];
  const list = await get(`apps?${new URLSearchParams({ queue: name, sort: "-id", limit: PAGE_SIZE, offset: offsetAsked() })}`);
  const below = answer.queues.filter((one) => one.parent === name);
  const most = (own.max_share.memory_mib < answer.cluster.memory_mib ? amount(own.max_share) : "the whole cluster");
  const facts = [["In", queueLink(own.parent)], ["Policy", own.policy], ["Weight", String(own.weight)], ["Uses", amount(own.used)], ["Fair share now", amount(own.fair_share)], ["Wants", amount(own.demand)],
    ["At least", amount(own.min_share)], ["At most", most],
    ["Runs at most", own.max_running_apps === undefined ? "" : counted(own.max_running_apps, "application")], ["Masters' share", own.max_am_share === undefined ? "" : String(own.max_am_share)],
    ["Priority", own.priority === undefined ? "" : String(own.priority)], ["Start time", own.start_time === undefined ? "" : time(own.start_time)], ["Gives back", own.preemptable ? "" : "nothing is taken from it"],
    ...(own.tasks ?? []).map((one) => [`${one.type[0].toUpperCase()}${one.type.slice(1)}s`, `${one.granted} granted, ${one.waiting} waiting${one.missing ? `, ${one.missing} below the minimum` : ""}`]),
    ["Past use", own.past_ppm === undefined ? "" : `${(own.past_ppm / 10000).toFixed(1)} % of the cluster`], ["Budget", own.budget ?? ""],
    ["Applications", `${own.runnable_apps} runnable, ${own.waiting_apps} waiting`]].filter(([, value]) => value !== "");
  const change = action("Change", `A setting of ${name}, named as in the file of the queues; nothing behind = takes it out.`, { label: "NAME=VALUE", value: `weight=${own.weight}` }, (given) => changeQueue(name, given), (given) => [`queue ${name}.${given}`]);
  return [name, el("h1", {}, name), actions(change), el("dl", {}, facts.flatMap(([title, value]) => [el("dt", {}, title), el("dd", {}, value)])),
    ...(below.length ? [el("h2", {}, "Queues in it"), table([head("Queue"), head("Used", "number"), head("Fair share", "number"), head("Wants", "number")],
      below.map((one) => el("tr", {}, cell(queueLink(one.name)), cell(mib(one.used.memory_mib), "number"), cell(mib(one.fair_share.memory_mib), "number"), cell(mib(one.demand.memory_mib), "number"))), "")] : []),
    ...(await charts(name)), el("h2", {}, "Applications"), table(COLUMNS.map(([, title, kind]) => head(title, kind)), list.apps.map(applicationRow), "None."), pages(location.pathname, list.total),
    el("h2", {}, "Lately"), await happenings({ queue: name }, { known: ["Queue"] }), allOf({ queue: name })];
}

// ---- nodes

const NODE_COLOURS = { RUNNING: "--used", DECOMMISSIONING: "--wait", DECOMMISSIONED: "--soft", SHUTDOWN: "--soft" };

// One square a node, ordered by rack; its colour is how full it is. Drawn on a canvas: ten thousand nodes are no trouble.
// Each of `map` is [id, rack, state, thousandths of memory in use].
function nodeMap(map) {
  const canvas = el("canvas", { role: "img", "aria-label": `${map.length} nodes, each a square, darker when fuller` });
  requestAnimationFrame(() => {
    const style = getComputedStyle(document.documentElement);
    const size = map.length > 2000 ? 8 : map.length > 300 ? 14 : 26;
    const columns = Math.max(1, Math.floor(canvas.clientWidth / size));
    const scale = devicePixelRatio || 1;
    canvas.style.height = `${Math.ceil(map.length / columns) * size}px`;
    canvas.width = columns * size * scale;
    canvas.height = Math.ceil(map.length / columns) * size * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    map.forEach(([, , state, full], at) => {
      const x = (at % columns) * size, y = Math.floor(at / columns) * size;
      context.fillStyle = style.getPropertyValue("--track");
      context.fillRect(x + 1, y + 1, size - 2, size - 2);
      context.fillStyle = style.getPropertyValue(NODE_COLOURS[state] ?? "--bad");
      const height = (size - 2) * (state === "RUNNING" ? full / 1000 : 1);
      context.fillRect(x + 1, y + size - 1 - height, size - 2, height);
    });
    const at = (event) => map[Math.floor(event.offsetY / size) * columns + Math.floor(event.offsetX / size)];
    canvas.onmousemove = (event) => {
      const node = at(event);
      canvas.title = node ? `${node[0]} (${node[1]}): ${words(node[2])}, ${percent(node[3] / 1000)} of its memory in use` : "";
    };
    canvas.onclick = (event) => at(event) && go(`/cluster/node/${encodeURIComponent(at(event)[0])}`);
  });
  return canvas;
}

function nodeRow(node) {
  const label = `${mib(node.used.memory_mib)} of ${mib(node.capacity.memory_mib)}`;
  return el("tr", {}, cell(nodeLink(node.id), "id"), cell(node.rack),
    cell([el("span", { class: `state ${node.state === "RUNNING" ? "good" : STATE_KINDS[node.state] ?? ""}` }, node.state), node.health_report ? el("div", { class: "why" }, node.health_report) : undefined]),
    el("td", { style: "min-width:12rem" }, bar(node.capacity.memory_mib, node.used.memory_mib, { label })), cell(label, "number"),
    cell(`${node.used.vcores} / ${node.capacity.vcores}`, "number"), cell(String(node.containers), "number"), cell(node.version));
}

async function nodes() {
  const answer = await get(`nodes?${new URLSearchParams({ text: query().get("text") ?? "", offset: offsetAsked(), limit: PAGE_SIZE })}`);
  const search = el("input", { type: "search", placeholder: "Search host, rack, state   ( / )", "aria-label": "Search nodes", value: query().get("text") ?? "", id: "search" });
  search.addEventListener("input", () => { clearTimeout(search.timer); search.timer = setTimeout(() => go("/cluster/nodes", { text: search.value, offset: "" }, "replaceState"), 250); });
  const out = (answer.drained ?? []).map(({ host, since_ms, by }) => el("p", {}, `Not to be used: ${host}`, by ? [" by ", by, ", ", time(since_ms)] : "", " ", action("Take back", `Take ${host} back into service?`, undefined, () => act("PUT", `/fairlead/v1/nodes/${encodeURIComponent(host)}/state`, { state: "RUNNING" }))));
  for (const { host, from_ms, until_ms, by } of answer.maintenance ?? []) {
    out.push(el("p", {}, `Maintenance of ${host} from `, time(from_ms), " to ", time(until_ms), " by ", by, " ", action("Cancel", `Cancel the maintenance of ${host}?`, undefined, () => act("PUT", `/fairlead/v1/nodes/${encodeURIComponent(host)}/maintenance`, { cancel: true }))));
  }
  return ["Nodes", el("h1", {}, "Nodes"), el("p", { class: "soft" }, "A square is a node, rack by rack: filled as far as its memory is promised, grey when it is taken out, orange while it empties, red when it is lost or unhealthy."),
    nodeMap(answer.map), ...(out.length ? [el("div", { class: "chips" }, out)] : []), el("h2", {}, counted(answer.total, "node")), el("div", { class: "tools" }, search),
    table([head("Node"), head("Rack"), head("State"), head("Memory"), head("In numbers", "number"), head("Cores", "number"), head("Containers", "number"), head("Version")], answer.nodes.map(nodeRow), search.value ? "No node matches." : "No node agent has registered yet."),
    pages("/cluster/nodes", answer.total)];
}

// "22:00 2h" as a maintenance window that begins at the next such time here.
function windowOf(given) {
  const [, hour, minute, count, unit] = /^(\d{1,2}):(\d{2}) +(\d{1,6})([mhd])$/.exec(given) ?? [];
  if (!unit || hour > 23 || minute > 59) throw new Error("write it as 22:00 2h");
  const at = new Date();
  at.setHours(hour, minute, 0, 0);
  if (at <= Date.now()) at.setDate(at.getDate() + 1);
  return { at_ms: at.getTime(), for_s: count * { m: 60, h: 3600, d: 86400 }[unit] };
}

async function node(id) {
  const own = await get(`nodes/${encodeURIComponent(id)}`);
  if (!own) return [id, el("h1", {}, id), el("p", {}, "There is no such node; those that went away long ago are forgotten.")];
  const { measured } = own;
  const there = !own.node_gone;
  const facts = [["State", el("span", { class: `state ${own.state === "RUNNING" ? "good" : STATE_KINDS[own.state] ?? ""}` }, own.state)], ["Rack", own.rack],
    ["Health", own.health_report || (there ? "nothing to complain of" : "not known any more")],
    ["Promised", `${mib(own.used.memory_mib)} of ${mib(own.capacity.memory_mib)}, ${own.used.vcores} of ${counted(own.capacity.vcores, "core")}, ${counted(own.containers, "container")}`],
    ...(!there ? [] : [["Measured", measured.memory_mib === undefined || measured.cores === undefined ? "not yet" : `${mib(measured.memory_mib)} and ${measured.cores.toFixed(1)} cores in use, ${mib(measured.containers_memory_mib)} and ${measured.containers_cores.toFixed(1)} of them by containers`]]),
    ...(measured.disk_busy_per_mille === undefined ? [] : [["Disks", `busy ${Math.round(measured.disk_busy_per_mille / 10)} % of the time, ${mib(Math.round(measured.disk_bytes_per_second / 2 ** 20))} a second`]]),
    ...(measured.network_bytes_per_second === undefined ? [] : [["Network", `${mib(Math.round(measured.network_bytes_per_second / 2 ** 20))} a second`]]),
    ...(own.maintenance ?? []).map(({ from_ms, until_ms, by }) => ["Maintenance", [time(from_ms), " to ", time(until_ms), " by ", by]]),
    ["Version", own.version], ["Its own page", there ? el("a", { href: `http://${own.http_address}/node` }, own.http_address) : "its agent has ended, and with it the way to its logs"]];
  const set = (body) => act("PUT", `/fairlead/v1/nodes/${encodeURIComponent(id)}/state`, body);
  const host = id.replace(/:\d+$/, "");
  const announce = async (given) => act("PUT", `/fairlead/v1/nodes/${encodeURIComponent(id)}/maintenance`, windowOf(given));
  const serves = own.state === "RUNNING" || own.state === "UNHEALTHY";
  const buttons = actions(
    serves ? action("Drain", `Start nothing new on ${id}, and take it out when it is empty?`, undefined, () => set({ state: "DECOMMISSIONING" }), () => [`drain ${id}`]) : [],
    serves || own.state === "DECOMMISSIONING" ? action("Decommission", `Take ${id} out at once? Its ${counted(own.containers, "container")} will end.`, undefined, () => set({ state: "DECOMMISSIONED" }), () => [`lose-node ${id}`]) : [],
    serves ? action("Maintenance", `Drain all nodes of ${host} for a while, and let them serve again afterwards?`, { label: "The next HH:MM, and how long (90m, 2h, 1d)", value: "22:00 2h" }, announce) : [],
    serves ? [] : action("Take back", `Take ${id} back into service?`, undefined, () => set({ state: "RUNNING" })));
  const running = own.running.map((one) => el("tr", {}, cell(one.id, "id"), cell(appLink(one.app), "id"), cell(words(one.state)), cell(amount(one.resources)), when(one.created_ms), cell(logs(one.http_address, one.id, one.user))));
  return [id, el("h1", {}, id), el("dl", {}, facts.flatMap(([title, value]) => [el("dt", {}, title), el("dd", {}, value)])), buttons,
    el("h2", {}, "Containers"), table([head("Container"), head("Application"), head("State"), head("Size"), head("Since"), head("Logs")], running, "Nothing runs here."),
    el("h2", {}, "Lately"), await happenings({ node: id }, { known: ["Node"] }), allOf({ node: id })];
}

// ---- what happened lately, of all

const KINDS = ["granted", "held", "released", "ended", "preempted", "notice", "refused", "state", "action"];

async function lately() {
  const kind = query().get("kind") ?? "";
  const asked = Object.fromEntries(["kind", "app", "queue", "node"].map((key) => [key, query().get(key)]).filter(([, value]) => value));
  const chips = ["", ...KINDS].map((one) => el("button", { "aria-pressed": one === kind, onclick: () => go("/cluster/events", { kind: one }) }, one || "all"));
  return ["Events", el("h1", {}, "What happened lately"), el("div", { class: "tools" }, el("div", { class: "chips" }, chips, filtersOf("/cluster/events", ["app", "queue", "node"]))), await happenings(asked, { limit: 200 })];
}

// ---- showing and refreshing

const noPage = () => ["No such page", el("h1", {}, "There is no such page"), el("p", {}, el("a", { href: "/cluster" }, "Applications"))];

// Addresses that Hadoop's pages have, too: an attempt or a container leads to its application, a state to a list.
const ofApplication = (id) => application(`application_${/(\d+_\d+)_\d+/.exec(id)?.[1]}`);
const filtered = (page, path, key) => (value) => {
  history.replaceState(null, "", `${path}?${key}=${encodeURIComponent(value)}`);
  return page();
};
const GROUP_OF = { RUNNING: "running", NEW: "waiting", SUBMITTED: "waiting", ACCEPTED: "waiting" };
const PAGES = new Map([["cluster", applications], ["apps", applications], ["scheduler", queues], ["nodes", nodes], ["events", lately]]);
const PAGES_OF_ONE = new Map([["app", application], ["logaggregationstatus", application], ["queue", queue], ["node", node], ["appattempt", ofApplication], ["container", ofApplication],
  ["apps", (state) => filtered(applications, "/cluster", "group")(GROUP_OF[state] ?? "ended")], ["nodes", filtered(nodes, "/cluster/nodes", "text")]]);

function pageOf(path) {
  const parts = path.split("/").filter(Boolean);
  if (parts.length === 0) return applications;
  if (parts[0] !== "cluster" || parts.length > 3) return null;
  if (parts.length < 3) return PAGES.get(parts[1] ?? "cluster") ?? null;
  const page = PAGES_OF_ONE.get(parts[1]);
  try {
    const id = decodeURIComponent(parts[2]);
    return page ? () => page(id) : null;
  } catch {
    return null;  // no text
  }
}

// At the foot of every page: whose pages these are.
async function tellAbout() {
  const cluster = await get("cluster");
  document.getElementById("about").textContent = `${cluster.name && `, cluster ${cluster.name}`}, scheduler profile ${cluster.profile}${cluster.wishes === "none" ? "" : ` (wishes ${cluster.wishes})`}, up since ${time(cluster.id)}`;
}

// ---- the time that is kept, as a slider above the pages that can be told of then

const KEPT_MS = 60_000;
const slider = document.getElementById("past");
const [moment, moments, toNow] = ["input", "output", "button"].map((name) => slider.querySelector(name));
moment.addEventListener("input", () => { moments.textContent = time(moment.value); });
moment.addEventListener("change", () => go(location.pathname, { at: moment.value, offset: "" }));
toNow.addEventListener("click", () => go(location.pathname, { at: "", offset: "" }));
let kept = null;  // null: nothing is, or not for this caller
let keptAt = 0;

async function tellKept() {
  const told = [applications, queues, nodes].includes(pageOf(location.pathname));
  if (told && Date.now() - keptAt > KEPT_MS) {
    keptAt = Date.now();
    kept = await get("past").catch(() => null);
  }
  slider.hidden = !told || !kept;
  for (const link of document.querySelectorAll("nav a")) link.search = atAsked() ? `?at=${atAsked()}` : "";
  if (slider.hidden || document.activeElement === moment) return;
  [moment.min, moment.max, moment.step] = [kept.from_ms, kept.to_ms, 1000];
  moment.value = atAsked() || kept.to_ms;
  moments.textContent = atAsked() ? time(atAsked()) : `now; kept since ${time(kept.from_ms)}`;
  toNow.hidden = !atAsked();
}

let turn = 0;
let timer = 0;
let lastGood = 0;
// The outcome of an action is told for a while, beside whatever else is told.
let outcome = "";
let outcomeUntil = 0;
const DONE_MS = 6000;
const NOT_DONE_MS = 30_000;

function tell(text, kind = "") {
  const told = Date.now() < outcomeUntil ? outcome : "";
  freshness.className = kind || (told.startsWith("Not done") ? "stale" : "");
  freshness.textContent = kind ? `${told} ${text}`.trim() : told || text;
}

async function render() {
  clearTimeout(timer);
  if (dialog.open) return;
  if (paused(lastGood)) {
    tell(paused(lastGood));
    return void (timer = setTimeout(render, REFRESH_MS));
  }
  const mine = ++turn;
  try {
    const [title, ...parts] = await (pageOf(location.pathname) ?? noPage)();
    if (mine !== turn) return;
    show(parts);
    document.title = `${title} · Fairlead`;
    if (lastGood === 0) tellAbout();
    lastGood = Date.now();
    tell(atAsked() ? `as it was at ${time(atAsked())}` : "live");
  } catch (error) {
    if (mine !== turn) return;
    tell(atAsked() ? `What was then cannot be told: ${error.message}` : `The resource manager does not answer (${error.message}).${oldness(lastGood)}`, "stale");
  }
  tellKept();
  if (!document.hidden && !atAsked()) timer = setTimeout(render, REFRESH_MS);
}

// Where an element stands below the page, to find what stands there after the next refresh; null: not in the page.
function placeOf(element) {
  if (!main.contains(element)) return null;
  const place = [];
  for (let at = element; at !== main; at = at.parentElement) place.unshift([...at.parentElement.children].indexOf(at));
  return place;
}

let shownPath = "";

// Replaces the page. The focus stays where it was, and a field that is being typed in keeps its text and the caret.
function show(parts) {
  const focused = shownPath === location.pathname ? document.activeElement : null;
  const place = focused && placeOf(focused);
  const scrolled = [...main.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
  main.replaceChildren(...parts.flat().filter(Boolean));
  if (shownPath === location.pathname) main.querySelectorAll(".scroll").forEach((box, at) => { box.scrollLeft = scrolled[at] ?? 0; });
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.pathname === location.pathname || (link.pathname === "/cluster" && pageOf(location.pathname) === applications);
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  shownPath = location.pathname;
  if (fromTop) scrollTo(0, 0);
  fromTop = false;
  const same = (one) => one?.tagName === focused.tagName && one.textContent === focused.textContent;
  const there = place?.reduce((at, index) => at?.children[index], main);
  const fresh = focused?.id === "search" ? document.getElementById("search")
    : place && !same(there) ? [...main.querySelectorAll(focused.tagName)].find(same) : there;
  if (!fresh || fresh === main) return;
  if (focused.id === "search") fresh.value = focused.value;
  fresh.focus({ preventScroll: true });
  if (focused.id === "search") fresh.setSelectionRange(focused.selectionStart, focused.selectionEnd);
}

document.addEventListener("visibilitychange", () => document.hidden || render());
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  document.getElementById("search")?.focus();
});
render();
