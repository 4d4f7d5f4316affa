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

  // Takes what was made of a stage's tasks.
  sum(event) {
    const stage = this.stages.get(key(event.stage, event.attempt));
    if (stage) stage.sum = event;
  }

  executor(id) {
    if (!this.executors.has(id)) this.executors.set(id, { host: "?", slots: 0 });
    return this.executors.get(id);
  }
}

// An earlier release did not write all of them.
const NO_METRICS = { bytes_read: 0, bytes_written: 0, shuffle_bytes_local: 0, shuffle_bytes_remote: 0, shuffle_bytes_written: 0, spilled_bytes: 0, fetch_wait_ns: 0 };

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
    stage.ends.push({ ...event, metrics: { ...NO_METRICS, ...event.metrics } });
  },
  output_lost: (story, event) => {
    const stage = story.stages.get(key(event.stage, event.stage_attempt));
    if (stage) --stage.done;
  },
  tasks_omitted: (story) => { story.omitted = true; },
  stage_summed: (story, event) => {
    story.sum(event);
    Object.assign(story.stages.get(key(event.stage, event.attempt)) ?? {}, { done: event.done, failed: event.failed });
  },
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
export const readBy = ({ metrics }) => metrics.bytes_read + metrics.shuffle_bytes_local + metrics.shuffle_bytes_remote;
export const writtenBy = ({ metrics }) => metrics.bytes_written + metrics.shuffle_bytes_written;

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

const NONE = { min: 0, p25: 0, median: 0, p75: 0, max: 0 };
const NOTHING = {
  summary: { succeeded: 0, records_read: 0, peak_memory: 0, input_bytes: 0, output_bytes: 0, shuffle_read_bytes: 0, shuffle_written_bytes: 0, levels: [],
    duration_ms: NONE, fetch_wait_ms: NONE, read_bytes: NONE, written_bytes: NONE, spill_bytes: NONE },
  findings: [], notes: [],
};

// Of a stage, as its driver says it (StageSummed of src/engine/history/history_events.h): what its tasks were, all together, what is worth a look and
// what else there is to tell. Nothing yet of one that has just begun.
export const sumOf = ({ sum }) => ({ ...NOTHING, ...sum, summary: { ...NOTHING.summary, ...sum?.summary } });
