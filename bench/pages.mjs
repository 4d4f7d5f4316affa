// How soon the resource manager's pages are there: node pages.mjs URL VISITS NODE. Prints one JSON line: of each page the medians of the browser's
// first contentful paint and of the first row or square that is shown, in ms since the navigation, and the bytes that came.
import { chromium } from "playwright-core";

const [url, visits, node] = process.argv.slice(2);
const PAGES = { applications: "/cluster", queues: "/cluster/scheduler", nodes: "/cluster/nodes", node: `/cluster/node/${encodeURIComponent(node)}`, events: "/cluster/events" };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const figures = {};
for (const [name, path] of Object.entries(PAGES)) {
  const paints = [], rows = [], bytes = [];
  for (let visit = 0; visit < Number(visits); ++visit) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });  // nothing is cached
    const page = await context.newPage();
    await page.goto(url + path);
    await page.waitForSelector("main td, main dd");
    rows.push(await page.evaluate(() => performance.now()));
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    bytes.push(await page.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, one) => sum + one.transferSize, 0)));
    await context.close();
  }
  figures[name] = { paint_ms: median(paints), row_ms: median(rows), bytes: median(bytes) };
}
await browser.close();
console.log(JSON.stringify(figures));
