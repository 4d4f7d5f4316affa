// What the pages of Standalone and of a job's history are made of.

// Text is always text, never markup.
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(key, value);
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

export const mib = (value) => (value >= 10240 ? `${(value / 1024).toFixed(1)} GiB` : `${value} MiB`);
export const time = (ms) => new Date(Number(ms)).toLocaleString();
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

const KINDS = { ALIVE: "good", DECOMMISSIONED: "wait", UNKNOWN: "wait", RUNNING: "run", WAITING: "wait", SUBMITTED: "wait", FINISHED: "good", DEAD: "bad", FAILED: "bad", ERROR: "bad", KILLED: "bad", "NOT ENDED": "bad" };
export const state = (text) => el("span", { class: `state ${KINDS[text] ?? ""}` }, text);

export function table(title, heads, rows, empty) {
  const body = rows.map((row) => el("tr", {}, row.map((content) => el("td", {}, content ?? ""))));
  const whole = el("table", {}, el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, body));
  return [el("h2", {}, title), el("div", { class: "scroll" }, rows.length ? whole : el("div", { class: "empty" }, empty))];
}

export const tile = (name, value) => el("div", { class: "tile" }, el("b", {}, value), el("span", { class: "soft" }, name));

// Only pages of the web: a worker says its address itself.
export const link = (address, text) => (/^https?:/.test(address) ? el("a", { href: address, rel: "noreferrer" }, text) : text);
