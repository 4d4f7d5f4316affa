// What the pages of all daemons are made of.

// Text is always text, never markup.
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") element.style.cssText = value;  // the page's policy allows no style attributes
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

export function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export const mib = (value) => (value >= 10240 ? `${(value / 1024).toFixed(value >= 102400 ? 0 : 1)} GiB` : `${value} MiB`);
export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  for (; value >= 1024 && at < units.length - 1; ++at) value /= 1024;
  return at === 0 ? `${Math.round(value)} B` : `${value.toFixed(1)} ${units[at]}`;
}
export const time = (ms) => (ms > 0 ? new Date(Number(ms)).toLocaleString() : "–");
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}\u00a0s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)}\u00a0min ${seconds % 60}\u00a0s` : `${Math.floor(seconds / 3600)}\u00a0h ${Math.floor((seconds % 3600) / 60)}\u00a0min`;
}

const KINDS = { ALIVE: "good", DECOMMISSIONED: "wait", UNKNOWN: "wait", RUNNING: "run", WAITING: "wait", SUBMITTED: "wait", LAUNCHING: "wait",
  FINISHED: "good", DEAD: "bad", LOST: "bad", FAILED: "bad", ERROR: "bad", KILLED: "bad", EXITED: "bad", "NOT ENDED": "bad" };
export const state = (text, kind = KINDS[text] ?? "") => el("span", { class: `state ${kind}` }, text);

// An id is one word: it breaks over no lines, except on a phone.
export const whole = (id) => el("span", { class: "id" }, id);

export function table(title, heads, rows, empty) {
  const body = rows.map((row) => el("tr", {}, row.map((content, at) => el("td", { "data-label": heads[at] }, content ?? ""))));
  const all = el("table", {}, el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, body));
  return [el("h2", {}, title), el("div", { class: "scroll" }, rows.length ? all : el("div", { class: "empty" }, empty))];
}

export const tile = (name, value) => el("div", { class: "tile" }, el("b", {}, value), el("span", { class: "soft" }, name));

// Only pages of the web: a worker says its address itself.
export const link = (address, text) => (/^https?:/.test(address) ? el("a", { href: address, rel: "noreferrer" }, text) : text);

// An address of the daemon whose page this is: a proxy may show it below a path of its own, and this file lies in static/
// there too.
export const own = (path) => new URL(`../${path}`, import.meta.url).href;

// The ways to other pages, in the head.
export const ways = (pages) => document.getElementById("pages").replaceChildren(...pages.map(([title, href]) => el("a", { href }, title)));

// Asks in a dialog of these parts. Resolves to what `given` says then, or to null: not to be done.
export function ask(parts, verb, given = () => true) {
  return new Promise((resolve) => {
    const leave = el("button", { type: "button", autofocus: "", onclick: () => dialog.close() }, "Leave it");
    const dialog = el("dialog", { "aria-label": "Please confirm", onclose: () => { dialog.remove(); resolve(null); } },
      el("form", { method: "dialog", onsubmit: () => resolve(given()) }, parts,
        el("div", { class: "chips" }, el("button", { class: "act" }, verb), leave)));
    document.body.append(dialog);
    dialog.showModal();
  });
}

// Shows these parts in place of those before; the focus and how far tables are scrolled stay.
export function show(title, parts) {
  const main = document.getElementById("main");
  const controls = () => [...main.querySelectorAll("a, button, summary")];
  const focused = controls().indexOf(document.activeElement);
  const scrolled = [...main.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
  main.replaceChildren(...parts.flat().filter((part) => part !== undefined && part !== null));
  main.querySelectorAll(".scroll").forEach((box, at) => { box.scrollLeft = scrolled[at] ?? 0; });
  controls()[focused]?.focus({ preventScroll: true });
  document.title = `${title} · Fairlead`;
}

// As fetch, which waits for ever by itself: a daemon that is silent is told of. What follows its first bytes may take longer.
const ANSWER_MS = 10_000;
export async function fetchSoon(path, how = {}) {
  const control = new AbortController();
  const timer = setTimeout(() => control.abort(new Error(`silent for ${span(ANSWER_MS)}`)), ANSWER_MS);
  try {
    return await fetch(path, { ...how, signal: control.signal });
  } finally {
    clearTimeout(timer);
  }
}

export async function get(path) {
  const answer = await fetchSoon(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer.json();
}

export const oldness = (ms) => (ms > 0 ? ` What is shown is ${span(Date.now() - ms)} old.` : "");

// Said while somebody copies text, which a refresh would take away; else empty.
export const paused = (since) => (since > 0 && !getSelection().isCollapsed ? `paused while text is selected.${oldness(since)}` : "");

const REFRESH_MS = 2000;
let lastGood = 0;

// Calls `load` again and again, and says how fresh the page is.
export async function live(load) {
  const freshness = document.getElementById("freshness");
  try {
    const words = paused(lastGood);
    if (!words) {
      await load();
      lastGood = Date.now();
    }
    freshness.className = "";
    freshness.textContent = words || "live";
  } catch (error) {
    freshness.className = "stale";
    freshness.textContent = `No answer (${error.message}).${oldness(lastGood)}`;
  }
  if (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
  setTimeout(() => live(load), REFRESH_MS);
}
