// findings.mjs STORY.js LOG: what the page says of the stages of an event log, as JSON: [stage, attempt, findings, notes].
import { readFileSync } from "node:fs";

const { Story, sumOf } = await import(process.argv[2]);
const story = new Story();
for (const line of readFileSync(process.argv[3], "utf8").split("\n")) if (line) story.take(line);
const said = [...story.stages.values()].map((stage) => [stage.stage, stage.attempt, sumOf(stage).findings, sumOf(stage).notes]);
console.log(JSON.stringify(said));
