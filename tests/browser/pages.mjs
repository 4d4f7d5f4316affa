// Clicks through every page of what scene.py has started, in Debian's Chromium. Usage: node pages.mjs SCENE (JSON)
// Each page: nothing on the console, a title, a language, no contrast violation or nameless control (axe) in light and dark, no
// overflow from 390 px to 4K. Then what people do: search, keyboard, drill down to a log, an action with its confirmation.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { url, app, running, waits, hostile, shuffle, master, worker, pictures } = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SIZES = [[390, 844], [1280, 800], [3840, 2160]];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const PICTURED = ["applications", "queue"];  // for the documents
let checked = 0;

async function open(path, colorScheme = "light", [width, height] = [1280, 800]) {
  const page = await browser.newPage({ colorScheme, viewport: { width, height }, bypassCSP: true });
  page.faults = [];
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on("pageerror", (error) => page.faults.push(String(error)));
  await page.goto(path.startsWith("http") ? path : url + path);
  await page.waitForFunction(() => /^(live|ended)/.test(document.getElementById("freshness").textContent));
  return page;
}

// The next refresh has been shown.
const refreshed = (page) => page.evaluate(() => new Promise((done) => new MutationObserver(done).observe(document.getElementById("main"), { childList: true })));

async function check(page, path) {
  await refreshed(page);
  assert.equal(await page.textContent("#freshness"), "live", path);
  await judge(page, path);
}

async function judge(page, path) {
  assert.deepEqual(page.faults, [], path);
  assert.match(await page.title(), /\S.* · Fairlead$/, path);
  assert.equal(await page.getAttribute("html", "lang"), "en");
  assert.match(await page.textContent("footer"), /^Fairlead \d+\.\d+/, path);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(beyond <= 0, `${path} is ${beyond} px too wide`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }));
  assert.deepEqual(violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" ")}`), [], path);
  ++checked;
}

async function everyPage(paths, options) {
  for (const [name, path] of Object.entries(paths)) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(path, colorScheme);
      await check(page, path);
      if (pictures && colorScheme === "light" && PICTURED.includes(name)) await page.screenshot({ path: `${pictures}/${name}.png` });
      if (colorScheme === "dark") await fitsEverySize(page, path, options);
      await page.close();
    }
  }
}

async function fitsEverySize(page, path, { strangers = false } = {}) {
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(beyond <= 0, `${path} is ${beyond} px too wide at ${width}`);
    assert.equal(await page.locator("td:not([data-label]):not(:empty)").count(), 0, `cells of ${path} that do not say what they are on a phone`);
    // Nobody has to push a table aside to read why something waits; strangers' endless words may need it, but on no phone.
    if (strangers && width > SIZES[0][0]) continue;
    const aside = await page.evaluate(() => [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.textContent.slice(0, 80)));
    assert.deepEqual(aside, [], `tables of ${path} are wider than the window at ${width}`);
  }
}

// From an ended job's page to its history, which its driver's node serves, to a stage's tasks, and back.
async function historyOfTheJob() {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(`/cluster/app/${app}`, colorScheme);
    await page.click("a:has-text('its history')");
    await page.waitForFunction(() => document.getElementById("freshness").textContent === "ended");
    await page.waitForSelector("p:has-text('FINISHED')");
    await page.waitForSelector("h2:has-text('Timeline') + figure rect");
    await page.click("main table a");
    await page.waitForSelector("details[open] td:has-text('success')");
    await page.waitForSelector("details[open] h2:has-text('By executor') + .scroll td");
    assert.match(page.url(), /#stage-\d+-\d+$/);
    await page.click("details[open] summary");
    assert.doesNotMatch(page.url(), /#/, "a stage that was closed by hand is still in the address");
    await page.click("details summary");
    assert.match(page.url(), /#stage-\d+-\d+$/, "a stage that was opened by hand is not in the address");
    await judge(page, "a job's history");
    await fitsEverySize(page, "a job's history");
    await page.click("nav a:text-is('Application')");
    await page.waitForSelector("h2:has-text('Containers that have ended')");
    await page.close();
  }
}

// What an application waits for stands in the list, and on its page with what would free it.
async function waitingJob() {
  const page = await open("/cluster");
  await page.waitForSelector(`tr:has(a:text-is('${waits}')) .why:has-text(' × 1024 MiB, 1 core: cluster full')`);
  await page.waitForSelector(".tile:has-text('Containers') .why:has-text('cluster full')");
  await page.click(`a:text-is('${waits}')`);
  await page.waitForSelector("h2:has-text('What it waits for') + .scroll td:has-text('add a node')");
  await page.waitForSelector("h2:text-is('When it starts') + .scroll td:has-text('1024 MiB, 1 core')");
  await page.waitForSelector("h2:text-is('When it starts') ~ p:has-text('estimate')");
  await page.close();
}

// A job that runs: its driver's page behind the manager's, with what runs now.
async function runningJob() {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(`/proxy/${running}/static/history.html`, colorScheme);
    await page.waitForSelector("h2:has-text('Tasks that run') + .scroll td:text-is('PROCESS_LOCAL'), h2:has-text('Tasks that run') + .scroll td:text-is('NO_PREF')");
    await page.waitForSelector("td:has-text('0 of 2, 1 running')");
    await check(page, "a driver's page");
    await fitsEverySize(page, "a driver's page");
    await page.click("nav a:text-is('Application')");
    await page.waitForURL(`**/cluster/app/${running}`);
    await page.close();
  }
}

// What jobs and strangers name is text, wherever it stands.
async function hostileWords(path, texts) {
  const page = await open(path);
  await page.waitForSelector(`text=<img src=x`);
  assert.equal(await page.evaluate(() => [document.querySelectorAll("main img, main script").length, typeof globalThis.owned].join()), "0,undefined", path);
  assert.ok((await page.textContent("main")).split("<img src=x onerror='owned=1'>").length > texts, path);
  await judge(page, path);
  await fitsEverySize(page, path, { strangers: true });
  await page.close();
}

// The Standalone Master, its Worker, an executor's log, and back; an application is ended after a question.
async function standalone() {
  const page = await open(`${master}/`);
  await page.waitForSelector("h2:text-is('Applications') + .scroll td:has-text('RUNNING')");
  await page.click("h2:text-is('Workers') + .scroll td a");
  await page.waitForURL(`${worker}/`);
  await page.click("nav a:text-is('Master')");
  await page.click("h2:text-is('Applications') + .scroll td a");
  await page.waitForSelector("h2:text-is('Executors') + .scroll td:has-text('RUNNING')");
  await judge(page, "a Standalone application");
  await fitsEverySize(page, "a Standalone application", { strangers: true });
  await page.click("h2:text-is('Executors') + .scroll td a:text-is('stderr')");
  await page.waitForSelector("pre:has-text('CoarseGrainedExecutorBackend')");
  await page.click("nav a:text-is('Worker')");
  await page.click("h2:text-is('Executors') + .scroll td a:text-is('stderr')");
  await page.waitForSelector("pre:has-text('CoarseGrainedExecutorBackend')");
  await judge(page, "an executor's log");
  await fitsEverySize(page, "an executor's log");
  await page.click("nav a:text-is('Worker')");
  await page.click("nav a:text-is('Master')");
  const kill = page.locator("h2:text-is('Applications') + .scroll button");
  await kill.click();
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Escape");
  await refreshed(page);
  await kill.click();
  await page.click("dialog button.act");
  await page.waitForSelector("h2:text-is('Applications that have ended') + .scroll td:has-text('KILLED')");
  await page.close();
}

async function whatPeopleDo() {
  const page = await open("/cluster", "light", [390, 844]);
  await page.waitForSelector("footer:has-text('scheduler profile fairlead')");
  await page.keyboard.press("/");
  await page.keyboard.type(app.slice(-6));
  await page.waitForURL(/text=/);
  await page.waitForFunction(() => document.activeElement.id === "search");
  // The focus stays over refreshes.
  const chip = page.locator(".chips button", { hasText: "Ended" });
  await chip.focus();
  await refreshed(page);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Ended");
  // Cluster, application, container, log: after the end, too.
  await page.goto(`${url}/cluster/app/${app}`);
  await page.waitForSelector("text=Containers that have ended");
  const log = await page.locator("h2:has-text('Containers that have ended') + .scroll a:has-text('logs')").first().getAttribute("href");
  const answer = await page.goto(log);
  assert.equal(answer.status(), 200, log);
  assert.match(await page.content(), /stderr/);
  await judge(page, log);
  await page.click("main a:has-text('stderr')");
  await page.waitForSelector("h1:has-text('stderr of container_')");
  await judge(page, "a log");
  await page.click("main a:text-is('stdout')");
  await page.waitForSelector("h1:has-text('stdout of container_')");
  await page.click("nav a:text-is('Application')");
  await page.waitForSelector("h2:has-text('Containers that have ended')");
  await page.goBack();
  // The node's own pages lead back.
  await page.click("nav a:text-is('Node')");
  await page.waitForSelector("h1:has-text('Node ')");
  await judge(page, "a node's own page");
  await fitsEverySize(page, "a node's own page");
  await page.click("nav a:has-text('Applications')");
  await page.waitForFunction(() => document.getElementById("freshness").textContent === "live");
  // Addresses of Hadoop's pages lead somewhere, and others say so.
  await page.goto(`${url}/cluster/appattempt/${app.replace("application", "appattempt")}_000001`);
  await page.waitForSelector(`td.id:has-text('appattempt_')`);
  await page.goto(`${url}/cluster/constructor`);
  await page.waitForSelector("h1:has-text('There is no such page')");
  // Queue and node from the application.
  await page.goto(`${url}/cluster/app/${app}`);
  await page.click("dd a[href^='/cluster/queue/']");
  await page.waitForSelector("h2:has-text('How it went')");
  await page.goto(`${url}/cluster/nodes`);
  await page.click("td.id a");
  await page.waitForSelector("h2:has-text('Lately')");
  // An action asks before; Escape leaves everything as it is.
  await page.click("button:has-text('Drain')");
  await page.waitForSelector("dialog[open]");
  await page.click("dialog button:has-text('What would change?')");
  await page.waitForSelector("dialog div[aria-live] p:not(.soft)");
  assert.doesNotMatch(await page.textContent("dialog div[aria-live]"), /Nobody can tell/);
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog[open]", { state: "detached" });
  // Maintenance is announced, shown and cancelled.
  await page.click("button:has-text('Maintenance')");
  await page.click("dialog button.act");
  await page.waitForSelector("dt:has-text('Maintenance')");
  await page.goto(`${url}/cluster/nodes`);
  await page.click("main p:has-text('Maintenance of') button:has-text('Cancel')");
  await page.click("dialog button.act");
  await page.waitForSelector("main p:has-text('Maintenance of')", { state: "detached" });
  await page.goto(`${url}/cluster/scheduler`);
  await page.click("button:has-text('Refresh')");
  await page.fill("#who", "ann");
  await page.click("dialog button.act");
  await page.waitForFunction(() => document.getElementById("freshness").textContent === "Done.");
  // A queue's setting: what would differ in the file is shown before it is written.
  await page.goto(`${url}/cluster/queue/root.small`);
  await page.click("button:has-text('Change')");
  await page.fill("#given", "weight=7");
  await page.click("dialog button.act");
  await page.waitForSelector("dialog pre:has-text('<weight>7</weight>')");
  await page.click("dialog button.act");
  await page.waitForSelector("dt:has-text('Weight') + dd:has-text('7')");
  await page.goto(`${url}/cluster/events?kind=action`);
  await page.waitForSelector("td:has-text('by ann from')");
  // What is chosen stands in the address, and can be chosen no more.
  await page.goto(`${url}/cluster/app/${app}`);
  await page.click("a:has-text('All that is remembered')");
  await page.waitForURL(`${url}/cluster/events?app=${app}`);
  await page.waitForSelector("td:has-text('granted')");
  assert.deepEqual(await page.$$eval("td a[href^='/cluster/app/']", (links) => [...new Set(links.map((link) => new URL(link.href).pathname))]), [`/cluster/app/${app}`]);
  await page.click("td a:has-text('container_')");
  await page.waitForURL(`${url}/cluster/app/${app}`);
  await page.goBack();
  await page.click(`button:has-text('app ${app} ×')`);
  await page.waitForURL(`${url}/cluster/events`);
  await page.goto(`${url}/cluster`);
  await page.click("td a[href^='/cluster?user=']");
  await page.waitForSelector("button:has-text('user '):has-text('×')");
  await page.close();
}

// Back to when no application had come, by the slider and the keyboard, and to now again.
async function past() {
  const page = await open("/cluster");
  await page.waitForSelector(`td a[href='/cluster/app/${app}']`);
  await page.focus("#past input");
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.getElementById("freshness").textContent.startsWith("as it was at "));
  assert.match(page.url(), /[?&]at=\d+/);
  assert.equal(await page.locator(`td a[href='/cluster/app/${app}']`).count(), 0);
  await page.click("nav a:has-text('Queues')");
  await page.waitForSelector("h1:has-text('Queues')");
  assert.match(page.url(), /[?&]at=\d+/);
  assert.equal(await page.locator("button:has-text('Refresh')").count(), 0, "what is over can be changed");
  await judge(page, "/cluster/scheduler of then");  // what is over is not shown again and again
  await page.click("#past button");
  await page.waitForFunction(() => document.getElementById("freshness").textContent === "live");
  await page.close();
}

// A daemon that is cut off without a word, and comes back.
async function cutOff() {
  for (const [path, calls] of [["/cluster", "**/fairlead/v1/**"], [`${shuffle}/`, "**/status*"]]) {
    const page = await open(path);
    await page.route(calls, () => {});  // taken, and never answered
    await page.waitForFunction(() => /silent for 10\ss\)\. What is shown is \d+\ss old\.$/.test(document.getElementById("freshness").textContent));
    await page.unroute(calls);
    await page.waitForFunction(() => document.getElementById("freshness").textContent === "live");
    await page.close();
  }
}

try {
  const { id: node, http_address: agent } = (await (await fetch(`${url}/fairlead/v1/nodes`)).json()).nodes[0];
  await waitingJob();
  await everyPage({ applications: "/cluster", application: `/cluster/app/${app}`, queues: "/cluster/scheduler", queue: "/cluster/queue/root.large",
    nodes: "/cluster/nodes", node: `/cluster/node/${encodeURIComponent(node)}`, events: "/cluster/events" });
  await everyPage({ service: `http://${agent}/services/spark_shuffle/`, shuffle: `${shuffle}/`, master: `${master}/`, worker: `${worker}/` }, { strangers: true });
  await historyOfTheJob();
  await runningJob();
  await hostileWords(`${hostile}/static/history.html`, 12);
  await hostileWords(`${master}/`, 0);
  await hostileWords(`${worker}/`, 0);
  await standalone();
  await whatPeopleDo();
  await past();
  await cutOff();
  console.log(`${checked} pages checked`);
} catch (error) {
  // What was to be seen instead.
  for (const page of browser.contexts().flatMap((context) => context.pages())) console.log(page.url(), (await page.textContent("body")).slice(0, 2000));
  throw error;
} finally {
  await browser.close();
}
