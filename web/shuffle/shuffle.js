// The shuffle service's page: whom it serves, how fast, and how its disks are. Everything shown comes from /status.

import { chart } from "./chart.js";
import { bytes, el, get, live, own, show, table, tile, ways } from "./parts.js";

const inAgent = location.pathname.startsWith("/services/");  // as an auxiliary service of a node agent
const SAMPLES_MAX = 300, ROWS_MAX = 200;
const samples = [];  // of this page's polls: the service keeps none

// What a counter grew by in a second, at each sample.
function rates(name) {
  return samples.map((sample, at) => {
    const before = samples[at - 1];
    return before && sample.pid === before.pid ? Math.max(0, ((sample.counters[name] - before.counters[name]) * 1000) / (sample.at - before.at)) : null;
  });
}
const number = (value) => value.toLocaleString(undefined, { maximumFractionDigits: 1 });

function curve(title, name, text) {
  return chart(title, samples.map((sample) => sample.at), [{ label: "now", kind: "used", values: rates(name) }], text);
}

const appRow = (app) => [app.id, number(app.executors), number(app.connections), bytes(app.bytes), number(app.blocksMerged), number(app.pushesRefused), app.hasSecret ? "its own" : "none"];

// Why pushed blocks were not merged.
function refusals(counters) {
  const reasons = [["after the end of their merge", counters.pushesLate], ["of a merge that was replaced", counters.pushesStale], ["merged already", counters.pushesTwice],
    ["of another attempt of the application", counters.pushesOfOtherAttempts], ["another block was being appended", counters.blockAppendCollisions],
    ["their connection ended", counters.pushesCut], ["no room for another partition", counters.pushesLimited], ["of a partition that was given up", counters.pushesToLostPartitions]];
  return reasons.map(([reason, count]) => [reason, number(count)]);
}

function merges(status) {
  const { counters } = status;
  if (!status.merges) return [];
  return [el("h2", {}, "Merges of pushed blocks"),
    el("div", { class: "tiles" }, tile("blocks merged", number(counters.blocksMerged)), tile("bytes merged", bytes(counters.blockBytesWritten)),
      tile("partitions merged", number(counters.partitionsMerged)), tile("open partitions", number(counters.openMergedPartitions)),
      tile("chunks read", number(counters.mergedChunkTransfers)), tile("memory", bytes(counters.mergeMemoryBytes)), tile("partitions lost", number(counters.mergedPartitionsLost))),
    ...(status.lastMergeError ? [el("p", { class: "why" }, `The last write that failed: ${status.lastMergeError}`)] : []),
    table("Pushed blocks that were not merged", ["Why", "Blocks"], refusals(counters))];
}

const diskRow = (disk) => [disk.root, disk.errors ? el("span", { class: "why" }, number(disk.errors)) : "none", disk.lastError];

async function load() {
  const status = await get(own("status"));
  const { counters, apps, disks } = status;
  samples.push({ at: Date.now(), pid: status.pid, counters });
  if (samples.length > SAMPLES_MAX) samples.shift();
  const largest = [...apps].sort((a, b) => b.bytes - a.bytes || (a.id < b.id ? -1 : 1)).slice(0, ROWS_MAX);
  const open = document.querySelector("details")?.open;
  const all = el("details", open ? { open: "" } : {}, el("summary", {}, "All counters"), el("p", { class: "soft" }, "For Prometheus at ", el("a", { href: inAgent ? "/metrics" : own("metrics") }, "/metrics"), "."),
    el("dl", {}, Object.entries(counters).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, number(value))])));
  show("Shuffle service", [el("h1", {}, "Shuffle service"),
    el("div", { class: "tiles" }, tile("executors whose files are served", number(counters.registeredExecutorsSize)), tile("connections", number(counters.numActiveConnections)),
      tile("sent", bytes(counters.blockTransferBytes)), tile("blocks sent", number(counters.blockTransfers)), tile("blocks that could not be read", number(counters.blockFailures))),
    el("h2", {}, "How it goes"),
    el("div", { class: "charts" }, curve("Bytes sent a second", "blockTransferBytes", bytes),
      curve("Blocks sent a second", "blockTransfers", number)),
    table(apps.length > ROWS_MAX ? `The ${ROWS_MAX} applications of ${apps.length} that read most` : "Applications", ["Application", "Executors", "Connections", "Sent", "Blocks merged", "Pushes refused", "Secret"], largest.map(appRow), "None has registered an executor."),
    table("Disks", ["Directory", "Errors", "The last one"], disks.map(diskRow), "It has none of its own: executors name theirs."), ...merges(status), all]);
}

if (inAgent) ways([["Node", "/node"]]);
live(load);
