// An application's story, put together from the lines of its event log (src/engine/history/history_events.h says what they hold).

const key = (stage, attempt) => `${stage}.${attempt}`;

export class Story {
  app = null;  // application_started
  ended = null;
  omitted = false;
  last = 0;  // the latest time that was told
  executors = new Map();
  jobs = new Map();
  stages = new Map();

  // Lines that are no event of ours are passed over, as are names that a later release adds.
  take(line) {
    let event;
    try {
      event = JSON.parse(line);
    } catch {
      return;
    }
    const [[name, fields]] = Object.entries(event ?? {}).concat([["", null]]);
    if (!fields || typeof fields !== "object" || !Object.hasOwn(HOW, name)) return;
    this.last = Math.max(this.last, fields.at_ms ?? 0);
    HOW[name](this, fields);
  }

  executor(id) {
    if (!this.executors.has(id)) this.executors.set(id, { host: "?", slots: 0 });
    return this.executors.get(id);
  }
}

const HOW = {
  application_started: (story, event) => { story.app = event; },
  application_ended: (story, event) => { story.ended = event; },
  executor_joined: (story, event) => { Object.assign(story.executor(event.executor), event); },
  executor_left: (story, event) => { Object.assign(story.executor(event.executor), { left: event.at_ms, reason: event.reason }); },
  job_started: (story, event) => { story.jobs.set(event.job, { ...event, ended: null, error: "" }); },
  job_finished: (story, event) => { Object.assign(story.jobs.get(event.job) ?? {}, { ended: event.at_ms, error: event.error }); },
  stage_started: (story, event) => { story.stages.set(key(event.stage, event.attempt), { ...event, ended: null, failure: "", done: 0, failed: 0, ends: [] }); },
  stage_finished: (story, event) => { Object.assign(story.stages.get(key(event.stage, event.attempt)) ?? {}, { ended: event.at_ms, failure: event.failure }); },
  task_finished: (story, event) => {
    const stage = story.stages.get(key(event.launch.stage, event.launch.stage_attempt));
    if (!stage) return;
    ++stage[event.end === "success" ? "done" : "failed"];
    story.executor(event.launch.executor);
    stage.ends.push(event);
  },
  output_lost: (story, event) => {
    const stage = story.stages.get(key(event.stage, event.stage_attempt));
    if (stage) --stage.done;
  },
  tasks_omitted: (story) => { story.omitted = true; },
  stage_summed: (story, event) => { Object.assign(story.stages.get(key(event.stage, event.attempt)) ?? {}, { done: event.done, failed: event.failed, summed: event.summary }); },
  shuffle_merged: (story, event) => { Object.assign(story.stages.get(key(event.stage, event.attempt)) ?? {}, { merged: event }); },
};

function quantiles(values) {
  values.sort((a, b) => a - b);
  const at = (share) => values[Math.min(Math.floor(values.length * share), values.length - 1)] ?? 0;
  const [min, p25, median, p75, max] = [0, 0.25, 0.5, 0.75, 1].map(at);
  return { min, p25, median, p75, max };
}

// Ends that are no fault of the task: its container was taken back, its node was lost, or another try was first.
const TAKEN_BACK = new Set(["killed", "commit_denied", "executor_lost caused_by_app=false"]);
export const takenBack = ({ end }) => TAKEN_BACK.has(end);

const length = (end) => end.at_ms - end.launch.at_ms;
const shuffled = (metrics) => metrics.shuffle_bytes_local + metrics.shuffle_bytes_remote;
const readBy = ({ metrics }) => metrics.bytes_read + shuffled(metrics);
const writtenBy = ({ metrics }) => metrics.bytes_written + metrics.shuffle_bytes_written;

// By executor: its tasks of a stage, with sums of those that succeeded.
export function byExecutor(stage) {
  const rows = new Map();
  for (const end of stage.ends) {
    if (!rows.has(end.launch.executor)) rows.set(end.launch.executor, { good: [], failed: 0, taken: 0, read: 0, written: 0, spilled: 0 });
    const row = rows.get(end.launch.executor);
    if (end.end !== "success") {
      ++row[takenBack(end) ? "taken" : "failed"];
      continue;
    }
    row.good.push(length(end));
    row.read += readBy(end);
    row.written += writtenBy(end);
    row.spilled += end.metrics.spilled_bytes;
  }
  for (const row of rows.values()) row.time = quantiles(row.good);
  return rows;
}

const SLOW_MS = 100, LARGE_BYTES = 1 << 20, SKEW_TIMES = 3, SLOW_EXECUTOR_TIMES = 2, SLOW_EXECUTOR_TASKS = 3;

// What is worth a look in a stage, as `fairlead history` says it (src/engine/history/history.h).
export function findings(sum, { bytes, took }) {
  const tasks = (count) => `${count} ${count === 1 ? "task" : "tasks"}`;
  const found = [];
  const add = (kind, count, text) => count > 0 && found.push({ kind, count, text });
  add("slow tasks", sum.slow, `${tasks(sum.slow)} took up to ${took(sum.time.max)}, the median is ${took(sum.time.median)}`);
  add("large reads", sum.large, `${tasks(sum.large)} read up to ${bytes(sum.read.max)}, the median is ${bytes(sum.read.median)}: keys that are far more frequent, or files that cannot be split`);
  add("spilling tasks", sum.spilling, `${tasks(sum.spilling)} spilled ${bytes(sum.spilled)}: more partitions or memory`);
  for (const id of sum.slowExecutors) add("slow executor", 1, `executor ${id} took twice the median or more: its node may be busy`);
  const attempts = (count) => `${count} ${count === 1 ? "attempt" : "attempts"}`;
  add("failed attempts", sum.failed, `${attempts(sum.failed)} failed`);
  add("attempts taken back", sum.taken, `${attempts(sum.taken)} taken back`);
  add("bad records", sum.bad, `${sum.bad} bad ${sum.bad === 1 ? "record" : "records"} left out`);
  add("second tries", sum.speculative, `${tasks(sum.speculative)} run a second time beside the first`);
  for (const [why, count] of [...sum.away].sort()) add("away from data", count, `${tasks(count)} away from their data: ${why}`);
  return found;
}

// Of a stage: sums and quantiles of its tasks that succeeded, and how near their data all of them ran. Where the log has not all of them its
// driver said it (StageSummary of src/engine/history/stage_summary.h).
export const summary = (stage) => (stage.summed ? told(stage.summed, stage.merged) : summed(stage));

// Of shuffles that were merged: what the stage wrote, and what it read.
const merges = (written, together, single, fallbacks) => ({ written, together, single, fallbacks });

function summed(stage) {
  const good = stage.ends.filter((end) => end.end === "success");
  const sum = (value) => good.reduce((whole, { metrics }) => whole + value(metrics), 0);
  const levels = new Map();
  const away = new Map();
  for (const { launch } of stage.ends) {
    levels.set(launch.level, (levels.get(launch.level) ?? 0) + 1);
    if (launch.why) away.set(launch.why, (away.get(launch.why) ?? 0) + 1);
  }
  const taken = stage.ends.filter(takenBack).length;
  const time = quantiles(good.map(length)), read = quantiles(good.map(readBy));
  const standing = (value, { median }, counts) => good.filter((end) => value(end) >= counts && value(end) >= SKEW_TIMES * median).length;
  const slow = ([, { good: own, time: its }]) => own.length >= SLOW_EXECUTOR_TASKS && its.median >= SLOW_MS && its.median >= SLOW_EXECUTOR_TIMES * time.median;
  return {
    good: good.length, time, read, wait: quantiles(good.map(({ metrics }) => metrics.fetch_wait_ns / 1e6)),
    written: quantiles(good.map(writtenBy)), spills: quantiles(good.map(({ metrics }) => metrics.spilled_bytes)),
    input: sum((metrics) => metrics.bytes_read), output: sum((metrics) => metrics.bytes_written), shuffleRead: sum(shuffled), shuffleWritten: sum((metrics) => metrics.shuffle_bytes_written),
    spilled: sum((metrics) => metrics.spilled_bytes), records: sum((metrics) => metrics.records_read + metrics.shuffle_records_read), bad: sum((metrics) => metrics.bad_records),
    peak: good.reduce((most, { metrics }) => Math.max(most, metrics.peak_memory), 0), speculative: stage.ends.filter((end) => end.launch.speculative).length, levels, away,
    cached: { read: sum((metrics) => metrics.cached_read ?? 0), fetched: sum((metrics) => metrics.cached_fetched ?? 0), bytes: sum((metrics) => metrics.cached_bytes_fetched ?? 0), made: sum((metrics) => metrics.cached_made ?? 0) },
    merged: merges(stage.merged, sum((metrics) => metrics.blocks_read_merged ?? 0), sum((metrics) => metrics.blocks_read_single ?? 0), sum((metrics) => metrics.merged_fallbacks ?? 0)),
    failed: stage.ends.length - good.length - taken, taken,
    slow: standing(length, time, SLOW_MS), large: standing(readBy, read, LARGE_BYTES),
    spilling: good.filter(({ metrics }) => metrics.spilled_bytes > 0).length,
    slowExecutors: [...byExecutor(stage)].filter(slow).map(([id]) => id),
  };
}

const told = (sum, merged) => ({
  good: sum.succeeded, time: sum.duration_ms, wait: sum.fetch_wait_ms, read: sum.read_bytes, written: sum.written_bytes, spills: sum.spill_bytes,
  input: sum.input_bytes, output: sum.output_bytes, shuffleRead: sum.shuffle_read_bytes, shuffleWritten: sum.shuffle_written_bytes,
  spilled: sum.spilled_bytes, records: sum.records_read, bad: sum.bad_records, peak: sum.peak_memory, speculative: sum.speculative,
  levels: new Map(sum.levels), away: new Map(sum.away),
  cached: { read: sum.cached_read, fetched: sum.cached_fetched, bytes: sum.cached_bytes_fetched, made: sum.cached_made },
  merged: merges(merged, sum.blocks_read_merged ?? 0, sum.blocks_read_single ?? 0, sum.merged_fallbacks ?? 0),
  failed: sum.failed, taken: sum.taken_back ?? 0,
  slow: sum.slow_tasks, large: sum.large_reads, spilling: sum.spilling_tasks, slowExecutors: sum.slow_executors,
});
