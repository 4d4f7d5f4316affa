// findings.mjs STORY.js LOG: what the page finds in an event log, as JSON: [stage, attempt, kind, count].
import { readFileSync } from "node:fs";

const { Story, findings, summary } = await import(process.argv[2]);
const story = new Story();
for (const line of readFileSync(process.argv[3], "utf8").split("\n")) if (line) story.take(line);
const found = [...story.stages.values()].flatMap((stage) => findings(summary(stage), { bytes: String, took: String }).map(({ kind, count }) => [stage.stage, stage.attempt, kind, count]));
console.log(JSON.stringify(found));
