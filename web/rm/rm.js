// The resource manager's pages: applications, one application, queues, nodes. Everything shown comes from /fairlead/v1;
// the address holds what is filtered and sorted, so a page can be sent to a colleague.

const REFRESH_MS = 2000;
const PAGE_SIZE = 50;
const main = document.getElementById("main");
const freshness = document.getElementById("freshness");

// ---- building elements: text is always text, never markup

function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") element.style.cssText = value;  // the page's policy allows no style attributes
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

const cell = (content, kind) => el("td", kind ? { class: kind } : {}, content);

function table(heads, rows, empty) {
  if (rows.length === 0) return el("div", { class: "scroll" }, el("div", { class: "empty" }, empty));
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)));
}

const head = (title, kind) => el("th", { scope: "col", class: kind }, title);

// ---- words for numbers

const mib = (value) => (value >= 10240 ? `${(value / 1024).toFixed(value >= 102400 ? 0 : 1)} GiB` : `${value} MiB`);
const counted = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;
const amount = (resources) => `${mib(resources.memory_mib)}, ${counted(resources.vcores, "core")}`;

function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

const time = (ms) => (ms > 0 ? new Date(ms).toLocaleString() : "–");
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
  if (mark !== undefined) children.push(el("u", { style: `left:calc(${percent(share(mark, whole))} - 1px)` }));
  return el("div", { class: "bar", role: "img", "aria-label": label, title: label }, children);
}

// ---- the address

const query = () => new URLSearchParams(location.search);

function go(path, changes = {}) {
  const next = path === location.pathname ? query() : new URLSearchParams();
  for (const [key, value] of Object.entries(changes)) value ? next.set(key, value) : next.delete(key);
  const text = next.toString();
  history.pushState(null, "", path + (text ? `?${text}` : ""));
  render();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || !pageOf(url.pathname)) return;
  event.preventDefault();
  history.pushState(null, "", url);
  render();
});
addEventListener("popstate", () => render());

// Where access lists are on, ?user.name=NAME once says who asks, as everywhere in Hadoop's simple authentication.
const caller = new URLSearchParams(location.search).get("user.name") ?? sessionStorage.getItem("user.name");
if (caller) sessionStorage.setItem("user.name", caller);

async function get(path) {
  const who = caller ? `${path.includes("?") ? "&" : "?"}user.name=${encodeURIComponent(caller)}` : "";
  const response = await fetch(`/fairlead/v1/${path}${who}`, { headers: { Accept: "application/json" } });
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.json();
}

// ---- applications

const GROUPS = [["", "All"], ["running", "Running"], ["waiting", "Waiting"], ["ended", "Ended"]];
const COLUMNS = [["id", "Application"], ["name", "Name"], ["user", "User"], ["queue", "Queue"], ["state", "State"],
  ["containers", "Containers", "number"], ["memory", "Memory", "number"], ["submitted", "Submitted"], ["elapsed", "Duration", "number"]];

function tiles(cluster) {
  const { used, capacity } = cluster;
  const tile = (title, value, ...more) => el("div", { class: "tile" }, el("span", { class: "soft" }, title), el("b", {}, value), ...more);
  const meter = (title, key, text) => tile(title, `${text(used[key])} of ${text(capacity[key])}`,
    bar(capacity[key], used[key], { label: `${title}: ${percent(share(used[key], capacity[key]))} used` }));
  const nodes = cluster.nodes;
  const troubled = Object.entries(nodes).filter(([name, count]) => name !== "RUNNING" && count > 0).map(([name, count]) => `${count} ${words(name)}`);
  return el("div", { class: "tiles" }, meter("Memory", "memory_mib", mib), meter("Cores", "vcores", String),
    tile("Applications", `${cluster.apps.RUNNING ?? 0} running`, el("span", { class: "soft" }, `${(cluster.apps.ACCEPTED ?? 0) + (cluster.apps.SUBMITTED ?? 0)} waiting, ${cluster.containers} containers`)),
    tile("Nodes", `${nodes.RUNNING ?? 0} running`, el("span", { class: troubled.length ? "why" : "soft" }, troubled.join(", ") || "none in trouble")));
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
  return el("tr", {}, cell(el("a", { href: `/cluster/app/${app.id}` }, app.id), "id"), cell(app.name), cell(app.user),
    cell(el("a", { href: `/cluster?queue=${encodeURIComponent(app.queue)}` }, app.queue)), cell([state(app), waits]),
    cell(String(app.containers), "number"), cell(mib(app.used.memory_mib), "number"), cell(time(app.submitted_ms)), cell(span(app.elapsed_ms), "number"));
}

async function applications() {
  const asked = query();
  const sort = asked.get("sort") ?? "-id";
  const offset = Number(asked.get("offset") ?? 0);
  const request = new URLSearchParams({ sort, offset, limit: PAGE_SIZE });
  for (const key of ["group", "text", "queue", "user"]) if (asked.get(key)) request.set(key, asked.get(key));
  const [cluster, list] = await Promise.all([get("cluster"), get(`apps?${request}`)]);
  const search = el("input", { type: "search", placeholder: "Search id, name, user, queue   ( / )", "aria-label": "Search applications", value: asked.get("text") ?? "", id: "search" });
  search.addEventListener("input", () => { clearTimeout(search.timer); search.timer = setTimeout(() => go("/cluster", { text: search.value, offset: "" }), 250); });
  const chips = GROUPS.map(([key, title]) => el("button", { "aria-pressed": (asked.get("group") ?? "") === key, onclick: () => go("/cluster", { group: key, offset: "" }) }, title));
  const filters = ["queue", "user"].filter((key) => asked.get(key)).map((key) => el("button", { "aria-pressed": "true", title: "Remove this filter", onclick: () => go("/cluster", { [key]: "", offset: "" }) }, `${key} ${asked.get(key)} ×`));
  const last = Math.min(offset + PAGE_SIZE, list.total);
  const pager = el("div", { class: "pager" },
    el("button", { disabled: offset === 0 && "", onclick: () => go("/cluster", { offset: String(Math.max(0, offset - PAGE_SIZE)) }) }, "Previous"),
    el("button", { disabled: last >= list.total && "", onclick: () => go("/cluster", { offset: String(offset + PAGE_SIZE) }) }, "Next"),
    el("span", { class: "soft" }, `${list.total === 0 ? 0 : offset + 1}–${last} of ${list.total}`));
  return ["Applications", tiles(cluster), el("h2", {}, "Applications"),
    el("div", { class: "tools" }, search, el("div", { class: "chips" }, chips, filters)),
    table(COLUMNS.map((column) => sortHead(column, sort)), list.apps.map(applicationRow), "No application matches."), pager];
}

// ---- one application

function waiting(pending, ended) {
  const rows = pending.map((ask) => el("tr", {}, cell(`${ask.count} × ${amount(ask.capability)}`), cell(ask.name === "*" ? "any node" : ask.name), cell(span(ask.waiting_ms), "number"),
    cell(el("span", { class: "why" }, words(ask.reason))), cell([el("div", {}, ask.detail), ask.remedy ? el("div", { class: "soft" }, ask.remedy) : undefined])));
  return table([head("Asked for"), head("Where"), head("Waits", "number"), head("Because"), head("In detail, and what would free it")], rows, ended ? "Nothing: it has ended." : "Nothing: every ask has been granted.");
}

const logs = (http, container, user) => (http ? el("a", { href: `http://${http}/node/containerlogs/${container}/${encodeURIComponent(user)}${caller ? `?user.name=${encodeURIComponent(caller)}` : ""}` }, "logs") : undefined);

async function application(id) {
  const app = await get(`apps/${encodeURIComponent(id)}`);
  if (!app) return [id, el("h1", {}, id), el("p", {}, "The resource manager knows no application of this id; it forgets the oldest ended ones.")];
  const facts = [["State", state(app)], ["User", app.user], ["Queue", el("a", { href: `/cluster?queue=${encodeURIComponent(app.queue)}` }, app.queue)], ["Type", app.type],
    ["Priority", String(app.priority)], ["Submitted", time(app.submitted_ms)], ["Ended", time(app.finished_ms)], ["Duration", span(app.elapsed_ms)],
    ["Holds", `${counted(app.containers, "container")}, ${amount(app.used)}`], ["Progress", percent(app.progress)]];
  const attempts = app.attempts.map((attempt) => el("tr", {}, cell(attempt.id, "id"), cell(words(attempt.state)), cell(attempt.node),
    cell(logs(attempt.http_address, attempt.master, app.user)), cell(attempt.diagnostics)));
  const running = app.running.map((container) => el("tr", {}, cell(container.id, "id"), cell(words(container.state)), cell(container.node), cell(amount(container.resources)),
    cell(String(container.priority), "number"), cell(time(container.created_ms)), cell(logs(container.http_address, container.id, app.user))));
  return [app.name || id, el("h1", {}, app.name || id), el("div", { class: "soft" }, app.id, " · ", el("a", { href: `/proxy/${app.id}/` }, "the master's own page")),
    el("dl", {}, facts.flatMap(([title, value]) => [el("dt", {}, title), el("dd", {}, value)])),
    el("h2", {}, "What it waits for"), waiting(app.pending, app.finished_ms > 0),
    ...(app.diagnostics ? [el("h2", {}, "Diagnostics"), el("pre", {}, app.diagnostics)] : []),
    el("h2", {}, "Attempts"), table([head("Attempt"), head("State"), head("Node of the master"), head("Logs"), head("Diagnostics")], attempts, "No attempt has begun."),
    el("h2", {}, "Containers"), table([head("Container"), head("State"), head("Node"), head("Size"), head("Priority", "number"), head("Since"), head("Logs")], running, "It holds no container.")];
}

// ---- queues

function queueRow(queue, cluster) {
  const depth = queue.name.split(".").length - 1;
  const whole = Math.max(1, Math.min(cluster.memory_mib, queue.max_share.memory_mib));
  const label = `uses ${mib(queue.used.memory_mib)}, fair share ${mib(queue.fair_share.memory_mib)}, asks for ${mib(queue.demand.memory_mib)}, at most ${mib(whole)}`;
  const name = queue.leaf ? el("a", { href: `/cluster?queue=${encodeURIComponent(queue.name)}` }, queue.name.split(".").pop()) : queue.name.split(".").pop();
  return el("tr", {}, el("td", { style: `padding-left:${0.8 + depth * 1.4}rem` }, name),
    el("td", { style: "min-width:16rem" }, bar(cluster.memory_mib, queue.used.memory_mib, { demand: queue.demand.memory_mib, mark: queue.fair_share.memory_mib, label })),
    cell(mib(queue.used.memory_mib), "number"), cell(mib(queue.fair_share.memory_mib), "number"), cell(mib(queue.demand.memory_mib), "number"), cell(mib(whole), "number"),
    cell(`${queue.used.vcores} / ${queue.fair_share.vcores}`, "number"), cell(String(queue.weight), "number"), cell(String(queue.runnable_apps), "number"),
    cell(String(queue.waiting_apps), "number"), cell(queue.policy));
}

async function queues() {
  const answer = await get("queues");
  const order = answer.queues.sort((a, b) => (a.name < b.name ? -1 : 1));
  return ["Queues", el("h1", {}, "Queues"), el("p", { class: "soft" }, "Filled: used. Pale: asked for. Line: the fair share, as it is at this moment. The bar's length is the cluster's memory."),
    table([head("Queue"), head("Memory"), head("Used", "number"), head("Fair share", "number"), head("Demand", "number"), head("At most", "number"), head("Cores used / fair", "number"),
      head("Weight", "number"), head("Running", "number"), head("Waiting", "number"), head("Policy")], order.map((queue) => queueRow(queue, answer.cluster)), "There is no queue.")];
}

// ---- nodes

// One square a node, ordered by rack; its colour is how full it is. Drawn on a canvas: ten thousand nodes are no trouble.
function nodeMap(nodes) {
  const canvas = el("canvas", { role: "img", "aria-label": `${nodes.length} nodes, each a square, darker when fuller` });
  requestAnimationFrame(() => {
    const style = getComputedStyle(document.documentElement);
    const size = nodes.length > 2000 ? 8 : nodes.length > 300 ? 14 : 26;
    const columns = Math.max(1, Math.floor(canvas.clientWidth / size));
    const scale = devicePixelRatio || 1;
    canvas.style.height = `${Math.ceil(nodes.length / columns) * size}px`;
    canvas.width = columns * size * scale;
    canvas.height = Math.ceil(nodes.length / columns) * size * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    nodes.forEach((node, at) => {
      const x = (at % columns) * size, y = Math.floor(at / columns) * size;
      const full = share(node.used.memory_mib, node.capacity.memory_mib);
      context.fillStyle = style.getPropertyValue("--track");
      context.fillRect(x + 1, y + 1, size - 2, size - 2);
      context.fillStyle = style.getPropertyValue(node.state === "RUNNING" ? "--used" : "--bad");
      const height = (size - 2) * (node.state === "RUNNING" ? full : 1);
      context.fillRect(x + 1, y + size - 1 - height, size - 2, height);
    });
    canvas.onmousemove = (event) => {
      const node = nodes[Math.floor(event.offsetY / size) * columns + Math.floor(event.offsetX / size)];
      canvas.title = node ? `${node.id} (${node.rack}): ${words(node.state)}, ${amount(node.used)} of ${amount(node.capacity)}` : "";
    };
  });
  return canvas;
}

function nodeRow(node) {
  const label = `${mib(node.used.memory_mib)} of ${mib(node.capacity.memory_mib)}`;
  return el("tr", {}, cell(node.http_address ? el("a", { href: `http://${node.http_address}/node` }, node.id) : node.id, "id"), cell(node.rack),
    cell([el("span", { class: `state ${node.state === "RUNNING" ? "good" : STATE_KINDS[node.state] ?? ""}` }, node.state), node.health_report ? el("div", { class: "why" }, node.health_report) : undefined]),
    el("td", { style: "min-width:12rem" }, bar(node.capacity.memory_mib, node.used.memory_mib, { label })), cell(label, "number"),
    cell(`${node.used.vcores} / ${node.capacity.vcores}`, "number"), cell(String(node.containers), "number"), cell(node.version));
}

async function nodes() {
  const answer = await get("nodes");
  const text = (query().get("text") ?? "").toLowerCase();
  const all = answer.nodes.sort((a, b) => (a.rack + a.id < b.rack + b.id ? -1 : 1));
  const found = all.filter((node) => `${node.id} ${node.rack} ${node.state}`.toLowerCase().includes(text));
  const search = el("input", { type: "search", placeholder: "Search host, rack, state   ( / )", "aria-label": "Search nodes", value: query().get("text") ?? "", id: "search" });
  search.addEventListener("input", () => { clearTimeout(search.timer); search.timer = setTimeout(() => go("/cluster/nodes", { text: search.value }), 250); });
  const shown = found.slice(0, 500);
  return ["Nodes", el("h1", {}, "Nodes"), nodeMap(all), el("h2", {}, found.length > shown.length ? `First ${shown.length} of ${found.length}` : counted(found.length, "node")), el("div", { class: "tools" }, search),
    table([head("Node"), head("Rack"), head("State"), head("Memory"), head("", "number"), head("Cores", "number"), head("Containers", "number"), head("Version")], shown.map(nodeRow), "No node matches.")];
}

// ---- showing and refreshing

function pageOf(path) {
  const parts = path.split("/").filter(Boolean);
  if (parts.length === 0) return applications;
  if (parts[0] !== "cluster" || parts.length > 3) return null;
  if (parts[1] === "app" && parts[2]) return () => application(parts[2]);
  return { undefined: applications, apps: applications, cluster: applications, scheduler: queues, nodes }[parts[1]] ?? null;
}

let turn = 0;
let timer = 0;
let lastGood = 0;

async function render() {
  clearTimeout(timer);
  if (!getSelection().isCollapsed && turn > 0) return void (timer = setTimeout(render, REFRESH_MS));  // somebody copies text
  const mine = ++turn;
  try {
    const [title, ...parts] = await pageOf(location.pathname)();
    if (mine !== turn) return;
    show(parts);
    document.title = `${title} · Fairlead`;
    lastGood = Date.now();
    freshness.className = "";
    freshness.textContent = "live";
  } catch (error) {
    if (mine !== turn) return;
    freshness.className = "stale";
    freshness.textContent = `The resource manager does not answer (${error.message}). ` + (lastGood ? `Shown: ${new Date(lastGood).toLocaleTimeString()}.` : "");
  }
  if (!document.hidden) timer = setTimeout(render, REFRESH_MS);
}

// Replaces the page; a field that is being typed in keeps its text and the caret.
function show(parts) {
  const typing = document.activeElement?.id === "search" ? document.activeElement : null;
  main.replaceChildren(...parts);
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.pathname === location.pathname || (link.pathname === "/cluster" && pageOf(location.pathname) === applications);
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  const fresh = document.getElementById("search");
  if (!typing || !fresh) return;
  fresh.value = typing.value;
  fresh.focus();
  fresh.setSelectionRange(typing.selectionStart, typing.selectionEnd);
}

document.addEventListener("visibilitychange", () => document.hidden || render());
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  document.getElementById("search")?.focus();
});
render();
