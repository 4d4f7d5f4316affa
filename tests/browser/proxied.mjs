// What a browser sees of a master's page that it cannot reach: node proxied.mjs VIEW (JSON). VIEW: `start`, a page of the resource manager with a link to
// the proxy; `below`, the path of the proxy's pages; `nodes`, addresses to which pages may link (logs); `clicks`, pairs of a selector, which is clicked (none:
// nothing is), and a text, which is awaited; `depth`, how far every link is followed after them. Nothing but the manager answers; a request of anything
// else, an answer of 400 or more, a word of the console, and a link to another port are faults, which are printed with the first page that has them; `dead`
// are paths that lead nowhere at Hadoop's own proxy either, `noise` words of the console that have nothing to do with where the page is. Exit status: 1 with a fault.
import { chromium } from "playwright-core";

const { start, below, nodes, clicks, depth, dead, noise } = JSON.parse(process.argv[2]);
const PAGES_MAX = 300, ALIKE_MAX = 3, PATIENCE_MS = 60000;
const manager = new URL(start);
const faults = new Map();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const context = await browser.newContext();
const page = await context.newPage();
const isManager = (url) => [manager.host, `localhost:${manager.port}`].includes(new URL(url).host);  // masters link to it by its name
const ours = (url) => isManager(url) || /^(data|blob|about):/.test(url);
const fault = (text) => faults.set(text, faults.get(text) ?? page.url());

await context.route((url) => !ours(url.href), (route) => route.abort());
context.on("request", (request) => ours(request.url()) || fault(`asks ${request.url()}`));
context.on("response", (answer) => answer.status() < 400 || fault(`${answer.status()} from ${answer.request().method()} ${answer.url()}`));
page.on("console", (message) => message.type() === "error" && !noise.some((text) => message.text().includes(text)) && fault(message.text()));
page.on("pageerror", (error) => fault(String(error)));

const sees = (text) => page.waitForFunction((words) => document.body?.innerText.includes(words), text, { timeout: PATIENCE_MS });

// Where the links of the page that is open lead (Spark's that kill are passed over); one to a port that is neither the manager's nor a node's is a fault.
async function links() {
  const found = await page.$$eval("a[href]:not(.kill-link)", (all) => all.filter((one) => /^https?:/.test(one.href)).map((one) => one.href));
  for (const { host, port, href } of found.map((each) => new URL(each))) {
    if (port && !isManager(href) && !nodes.includes(host)) fault(`links to ${href}`);
  }
  return found.filter((href) => isManager(href) && !dead.some((path) => new URL(href).pathname.startsWith(path)));
}

async function clickThrough() {
  await page.goto(start);
  await page.click(`a[href*="${below}"]`, { timeout: PATIENCE_MS });
  await page.waitForURL(`**${below}**`);
  const found = [];
  for (const [selector, text] of clicks) {
    if (selector) await page.click(selector, { timeout: PATIENCE_MS });
    await sees(text);
    found.push(page.url(), ...await links());
  }
  return found;
}

async function open(url) {
  try {
    await page.goto(url, { waitUntil: "networkidle", timeout: PATIENCE_MS });
  } catch (error) {
    if (!/Download is starting/.test(error)) throw error;  // a file: its answer was seen
    return [];
  }
  if (new URL(url).pathname.startsWith(below)) return links();
  if (/There is no such page/.test(await page.innerText("body"))) fault("is linked to, and there is no such page");
  return [];
}

async function everyLink(found) {
  const known = new Set(), alike = new Map(), plain = (url) => url.replace(/#(?!\/).*|#\/?$/, "");  // "#/jobs" is a page of its own where a script shows them
  for (let step = 0; step < depth; ++step) {
    const next = [];
    for (const url of new Set(found.map(plain))) {
      const path = url.split("?")[0], same = alike.get(path) ?? 0;  // a table's headings lead to it in every order
      if (known.has(url) || known.size >= PAGES_MAX || same >= ALIKE_MAX) continue;
      alike.set(path, same + 1);
      known.add(url);
      next.push(...await open(url));
    }
    found = next;
  }
  return known.size;
}

try {
  console.log(`${await everyLink(await clickThrough())} pages opened`);
} catch (error) {
  fault(`${error}; to be seen is: ${(await page.innerText("body")).slice(0, 2000)}`);
} finally {
  await browser.close();
}
for (const [text, where] of faults) console.log(`${where}: ${text}`);
process.exit(faults.size ? 1 : 0);
