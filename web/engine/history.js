// What a job of the engine did: jobs, stages with their quantiles, a timeline of the executors, tasks. Put together from the driver's event
// log, which the driver itself serves while it runs (../events.jsonl), `fairlead history --serve` from a file, and after the end the node that
// keeps the driver's logs (?app=APPLICATION).

import { Story, byExecutor, readBy, sumOf, takenBack, writtenBy } from "./story.js";
import { bytes, el, fetchSoon, get, oldness, paused, show as showParts, span, state, svg, table, time, ways } from "./parts.js";

const REFRESH_MS = 2000;
const BARS_MAX = 4000, ROWS_MAX = 200, COLOURS = 8;
const LANE = 12;
const asked = new URLSearchParams(location.search);
const main = document.getElementById("main");
const freshness = document.getElementById("freshness");
const story = new Story();

// ---- words for numbers

const took = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms));

// Words for a quantile: of no task there is none.
const some = (count, text) => (value) => (count > 0 ? text(value) : "–");

let cluster;  // the resource manager's pages, where the way to them is known
const nodeLink = (host) => (cluster === undefined ? host
  : el("a", { href: `${cluster}/cluster/nodes?${new URLSearchParams({ text: host })}` }, host));

const nameOf = (stage) => (stage.attempt > 0 ? `${stage.stage}.${stage.attempt}` : String(stage.stage));
const idOf = (stage) => `stage-${stage.stage}-${stage.attempt}`;
const stageLink = (stage, text = nameOf(stage)) => el("a", { href: `#${idOf(stage)}` }, text);
const outcome = (ended, error) => state(!ended ? (story.ended ? "NOT ENDED" : "RUNNING") : error ? "FAILED" : "FINISHED");
// Until when what has not ended has run; of a log that a node keeps only its driver would know more.
const now = () => (story.ended || asked.has("app") ? story.last : Math.max(Date.now(), story.last));
const why = (text) => (text ? el("div", { class: "why" }, text) : undefined);

// ---- the parts of the page

function head() {
  const { app } = story;
  const how = !story.ended ? "RUNNING" : story.ended.killed ? "KILLED" : story.ended.error ? "FAILED" : "FINISHED";
  return [el("h1", {}, app.program), el("p", {}, el("span", { class: "soft" }, `${app.id} `), state(how),
    ` began ${time(app.at_ms)}, ${story.ended ? "took" : "for"} ${took((story.ended?.at_ms ?? now()) - app.at_ms)}`),
    !story.ended && asked.has("app") ? el("p", { class: "soft" }, "Its driver runs still, or did not live to tell its end: the application's page knows.") : undefined,
    story.ended?.error ? el("pre", {}, story.ended.error) : undefined, app.locality_waits ? el("p", { class: "soft" }, `Waits for places near the data: ${app.locality_waits}`) : undefined,
    story.omitted ? el("p", { class: "why" }, "The log reached its bound: the last tasks are not in it one by one. Sums and quantiles of stages that ended are of all.") : undefined];
}

const stagesOf = (job) => [...story.stages.values()].filter((stage) => stage.job === job.job);

// Stages are numbered job by job, and the last of a job always runs: of numbers between that are missing the outputs were there.
function skipped(job) {
  const before = story.jobs.get(job.job - 1);
  if ([job, before].some((one) => one && (!one.ended || one.error)) || (!before && job.job > 0)) return "";
  const last = (one) => Math.max(-1, ...stagesOf(one).map((stage) => stage.stage));
  const from = before ? last(before) : -1;
  const count = last(job) - from - new Set(stagesOf(job).map((stage) => stage.stage).filter((stage) => stage > from)).size;
  return count > 0 ? el("span", { class: "soft" }, `and ${count} skipped`) : "";
}

function jobs() {
  const rows = [...story.jobs.values()].map((job) => [String(job.job), [job.description, job.pool ? el("div", { class: "soft" }, `pool ${job.pool}`) : "", why(job.error) ?? ""], outcome(job.ended, job.error),
    took((job.ended ?? now()) - job.at_ms), [...stagesOf(job).flatMap((stage) => [stageLink(stage), " "]), skipped(job)]]);
  return table("Jobs", ["Job", "Action", "State", "Took", "Stages"], rows, "None has begun.");
}

// What is worth a look, of all stages; the stage tells more.
function found(sums) {
  const rows = [...sums].flatMap(([stage, sum]) => sum.findings.map(({ text }) => [stageLink(stage), stage.name, text]));
  return rows.length ? table("Worth a look", ["Stage", "What", "Finding"], rows, "") : [];
}

// Of a running driver: { total, tasks, stages }, the tasks that run now and sums of the stages that run.
let running = { total: 0, tasks: [], stages: [] };

const tasksOf = (stage) => running.tasks.filter((task) => task.stage === stage.stage && task.stage_attempt === stage.attempt);

function going(stage) {
  const here = tasksOf(stage).length;
  return here ? `, ${here}${running.total > running.tasks.length ? " or more" : ""} running` : "";
}

const place = (launch) => [launch.level, launch.why ? el("div", { class: "soft" }, `wanted ${launch.wanted}: ${launch.why}`) : ""];

function runningTasks() {
  if (story.ended || running.total === 0) return [];
  const rows = running.tasks.map((task) => [String(task.task), stageLink({ stage: task.stage, attempt: task.stage_attempt }), String(task.partition), `${task.attempt}${task.speculative ? " (copy)" : ""}`,
    task.executor, place(task), took(now() - task.at_ms)]);
  const title = running.total > rows.length ? `${rows.length} of ${running.total} tasks that run, the oldest` : "Tasks that run";
  return table(title, ["Task", "Stage", "Partition", "Try", "Executor", "Locality", "For"], rows, "");
}

function stages(sums) {
  const rows = [...story.stages.values()].map((stage) => {
    const { summary: sum, findings } = sums.get(stage);
    const share = Math.min(1, Math.max(0, stage.tasks > 0 ? stage.done / stage.tasks : 1));
    const fill = el("i");
    fill.style.width = `${share * 100}%`;
    const bar = el("div", { class: "bar", role: "img", "aria-label": `${stage.done} of ${stage.tasks} tasks done` }, fill);
    return [stageLink(stage), [el("span", { class: `swatch k${stage.stage % COLOURS}` }), stage.name, findings.length ? el("div", { class: "why" }, stageLink(stage, `${findings.length} ${findings.length === 1 ? "finding" : "findings"}`)) : "", why(stage.failure) ?? ""], outcome(stage.ended, stage.failure),
      [`${stage.done} of ${stage.tasks}${going(stage)}`, bar], took((stage.ended ?? now()) - stage.at_ms),
      ...[sum.duration_ms.median, sum.duration_ms.max].map(some(sum.succeeded, took)), ...[sum.input_bytes, sum.shuffle_read_bytes, sum.shuffle_written_bytes, sum.output_bytes].map(bytes)];
  });
  return table("Stages", ["Stage", "What", "State", "Tasks", "Took", "Median task", "Slowest", "Input", "Shuffle read", "Shuffle written", "Output"], rows, "None has begun.");
}

// Bars of each executor in as few lanes as they need, with the tasks that run now; of too many the longest. Across in
// hundredths of the width, so that the text keeps its size.
function timeline() {
  const bar = (stage, launch, to, end) => ({ stage, launch, from: launch.at_ms, to, end });
  const all = [...story.stages.values()].flatMap((stage) => [...stage.ends.map((end) => bar(stage, end.launch, end.at_ms, end)),
    ...(story.ended ? [] : tasksOf(stage)).map((task) => bar(stage, task, now()))]);
  if (all.length === 0) return [];
  const drawn = all.sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, BARS_MAX).sort((a, b) => a.from - b.from);
  const begin = drawn[0].from;
  const whole = Math.max(1, drawn.reduce((most, bar) => Math.max(most, bar.to), begin) - begin);
  const across = (ms) => (100 * ms) / whole;
  const shapes = [];
  let y = 4;
  for (const [id, executor] of story.executors) {
    const own = drawn.filter((bar) => bar.launch.executor === id);
    if (own.length === 0) continue;
    shapes.push(svg("text", { x: 2, y: y + 9 }, `executor ${id} on ${executor.host}`));
    y += LANE;
    const free = [];
    for (const bar of own) {
      let lane = free.findIndex((until) => until <= bar.from);
      if (lane < 0) lane = free.push(0) - 1;
      free[lane] = bar.to;
      const how = !bar.end ? ", runs" : bar.end.end === "success" ? "" : takenBack(bar.end) ? ", taken back" : ", failed";
      const words = `stage ${nameOf(bar.stage)} ${bar.stage.name}, partition ${bar.launch.partition}, ${took(bar.to - bar.from)}${how}`;
      const kind = how === ", failed" ? "kbad" : `k${bar.stage.stage % COLOURS}`;
      shapes.push(svg("rect", { class: kind, opacity: how === ", taken back" ? 0.35 : 1, x: `${across(bar.from - begin)}%`, y: y + lane * LANE,
        width: `${Math.max(0.06, across(bar.to - bar.from) - 0.04)}%`, height: LANE - 2 }, svg("title", {}, words)));
    }
    y += free.length * LANE + 4;
  }
  for (const [share, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]]) 
    shapes.push(svg("text", { x: `${share * 100}%`, y: y + 9, "text-anchor": anchor }, took(whole * share)));
  const picture = svg("svg", { role: "img", "aria-label": "tasks by executor over time" }, ...shapes);
  picture.style.height = `${y + 14}px`;
  return [el("h2", {}, "Timeline"), el("figure", {}, drawn.length < all.length ? el("p", {}, `The ${drawn.length} longest of ${all.length} tasks.`) : undefined,
    drawn.some(({ end }) => end && end.end !== "success") ? el("p", {}, "Red: failed. Pale: taken back.") : undefined,
    picture)];
}

const endOf = (end) => (takenBack(end) ? "taken back" : end.end === "success" ? end.end : el("span", { class: "why" }, end.end));

function taskRow(end) {
  const { launch, metrics } = end;
  return [String(launch.task), String(launch.partition), `${launch.attempt}${launch.speculative ? " (copy)" : ""}`, launch.executor,
    place(launch), endOf(end), took(end.at_ms - launch.at_ms),
    took(metrics.fetch_wait_ns / 1e6), bytes(readBy(end)), bytes(writtenBy(end)), bytes(metrics.spilled_bytes), end.reason];
}

// Failed ones first, then the slowest.
function tasks(stage, { summary: sum, findings, notes }) {
  const quantiles = (title, of, text) => [title, ...[of.min, of.p25, of.median, of.p75, of.max].map(some(sum.succeeded, text))];
  const length = (end) => end.at_ms - end.launch.at_ms;
  const order = [...stage.ends].sort((a, b) => (a.end === "success") - (b.end === "success") || length(b) - length(a));
  const shown = order.length > ROWS_MAX ? `${ROWS_MAX} of ${order.length} tasks: failed ones, then the slowest` : "Tasks";
  const left = stage.done + stage.failed - stage.ends.length;
  const title = el("summary", {}, `Stage ${nameOf(stage)}: ${stage.name}`);
  const part = el("details", { id: idOf(stage) }, title,
    el("p", { class: "soft" }, `${sum.records_read} records read, largest task kept ${bytes(sum.peak_memory)}; locality: ${sum.levels.map(([level, count]) => `${count} ${level}`).join(", ") || "none yet"}`),
    ...findings.map(({ text }) => why(text)),
    left > 0 ? el("p", { class: "why" }, `${left} of its ${left + stage.ends.length} ended tasks are beyond the log's bound: by executor and one by one are those before.`) : undefined,
    ...notes.map((text) => el("p", { class: "soft" }, text)),
    ...table("Of tasks that succeeded", ["", "Least", "25 %", "Median", "75 %", "Largest"],
      [quantiles("Time", sum.duration_ms, took), quantiles("Waited for blocks", sum.fetch_wait_ms, took), quantiles("Read", sum.read_bytes, bytes), quantiles("Wrote", sum.written_bytes, bytes), quantiles("Spilled", sum.spill_bytes, bytes)], ""),
    ...table("By executor", ["Executor", "Node", "Tasks", "Failed", "Taken back", "Median task", "Slowest", "Read", "Wrote", "Spilled"],
      [...byExecutor(stage)].map(([id, row]) =>
      [id, nodeLink(story.executor(id).host), String(row.good.length), String(row.failed), String(row.taken),
        ...[row.time.median, row.time.max].map(some(row.good.length, took)), ...[row.read, row.written, row.spilled].map(bytes)]),
      "None has ended a task."),
    ...table(shown, ["Task", "Partition", "Try", "Executor", "Locality", "End", "Took", "Waited for blocks", "Read", "Wrote", "Spilled", "Reason"], order.slice(0, ROWS_MAX).map(taskRow), "None has ended."));
  title.addEventListener("click", () => history.replaceState(null, "", part.open ? location.pathname + location.search : `#${part.id}`));
  return part;
}

function executors() {
  const rows = [...story.executors].map(([id, one]) => [id, nodeLink(one.host), String(one.slots), one.serves_own_files ? "itself" : "its node",
    one.left ? `left: ${one.reason}` : "connected"]);
  return table("Executors", ["Executor", "Node", "Slots", "Shuffle files served by", "State"], rows, "None has come.");
}

// ---- showing and refreshing: open parts and the focus stay

function openNamed() {
  const part = document.getElementById(location.hash.slice(1));
  if (part?.tagName === "DETAILS") part.open = true;
}

function show() {
  const open = new Set([...main.querySelectorAll("details[open]")].map((part) => part.id));
  const sums = new Map([...story.stages.values()].map((stage) => [stage, sumOf(stage)]));
  const details = [...story.stages.values()].map((stage) => tasks(stage, sums.get(stage)));
  for (const part of details) part.open = open.has(part.id);
  showParts(`${story.app.program} ${story.app.id}`, [head(), found(sums), jobs(), stages(sums), runningTasks(), timeline(), el("h2", {}, "Tasks by stage"), details, executors()]);
}

// Where the log is, and the ways back from here.
async function source() {
  const pages = [];
  let log = "../events.jsonl";
  const app = asked.get("app");
  const who = asked.get("user.name") ? { "user.name": asked.get("user.name") } : {};
  const proxied = location.pathname.match(/^\/proxy\/(application_\d+_\d+)\//);
  if (proxied) {
    pages.push(["Application", `/cluster/app/${proxied[1]}`], ["Applications", "/cluster"]);
    cluster = "";
  }
  if (app) {
    const answer = await fetch(`/fairlead/v1/logs/${encodeURIComponent(app)}?${new URLSearchParams(who)}`);
    if (!answer.ok) throw new Error(await answer.text());
    const { containers, cluster_page: page } = await answer.json();
    pages.push(["Node", "/node"]);
    if (page) pages.push(["Application", `${page}/cluster/app/${app}`], ["Applications", `${page}/cluster`]);
    cluster = page || undefined;
    const driver = containers.filter((one) => one.files.includes("events.jsonl")).map((one) => one.id).sort().pop();
    if (driver) log = `/fairlead/v1/logs/${app}/${driver}/events.jsonl`;
    ways(pages);
    if (!driver) throw new Error(`This node keeps no event log of ${app}: it is no job of the engine, or its logs are gone.`);
  }
  ways(pages);
  const address = (start) => `${log}?${new URLSearchParams({ ...who, start })}`;
  if (!app) address.running = "../running.json";
  return address;
}

let rest = new Uint8Array();
let start = 0;
let lastGood = 0;

// Takes in what the log has grown by; the last line may not be whole yet. True: there was something.
async function grow(address) {
  const answer = await fetchSoon(address(start), { cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  const more = new Uint8Array(await answer.arrayBuffer());
  if (more.length === 0) return false;
  start += more.length;
  const text = new Uint8Array(rest.length + more.length);
  text.set(rest);
  text.set(more, rest.length);
  const end = text.lastIndexOf(10) + 1;
  rest = text.slice(end);
  for (const line of new TextDecoder().decode(text.subarray(0, end)).split("\n")) if (line) story.take(line);
  return true;
}

async function take(address) {
  let grown = false;
  while (await grow(address)) {
    if (!grown && !lastGood && story.app) show();  // the beginning of a long log, before the rest has come
    grown = true;
  }
  if (address.running && !story.ended) {
    running = await get(address.running);
    for (const sum of running.stages) story.sum(sum);
  }
  if (story.app && (grown || !story.ended)) show();
  if (grown && location.hash) openNamed();
  lastGood = Date.now();
}

async function refresh(address) {
  try {
    const words = paused(lastGood);
    if (!words) await take(address ??= await source());
    freshness.className = "";
    freshness.textContent = words || (story.ended ? "ended" : "live");
  } catch (error) {
    freshness.className = "stale";
    freshness.textContent = story.app ? `No answer any more (${error.message}).${oldness(lastGood)}` : error.message;
  }
  if (!story.ended) setTimeout(() => refresh(address), REFRESH_MS);
}

addEventListener("hashchange", openNamed);
refresh();
