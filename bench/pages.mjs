// How soon pages are there: node pages.mjs VISITS NAME=URL... Prints one JSON line: of each page the medians of the browser's first contentful
// paint and of the first row or square that is shown, in ms since the navigation, of the bytes that came, and of what its scripts then keep in memory.
import { chromium } from "playwright-core";

const [visits, ...pages] = process.argv.slice(2);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const figures = {};
for (const [name, url] of pages.map((page) => [page.slice(0, page.indexOf("=")), page.slice(page.indexOf("=") + 1)])) {
  const paints = [], rows = [], bytes = [], heaps = [];
  for (let visit = 0; visit < Number(visits); ++visit) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });  // nothing is cached
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForSelector("main td, main dd");
    rows.push(await page.evaluate(() => performance.now()));
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    await page.waitForFunction(() => document.getElementById("freshness")?.textContent, null, { timeout: 60_000 });  // all is there
    bytes.push(await page.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, one) => sum + one.transferSize, 0)));
    const inspector = await context.newCDPSession(page);
    await inspector.send("HeapProfiler.collectGarbage");
    heaps.push((await inspector.send("Runtime.getHeapUsage")).usedSize);
    await context.close();
  }
  figures[name] = { paint_ms: median(paints), row_ms: median(rows), bytes: median(bytes), heap_bytes: median(heaps) };
}
await browser.close();
console.log(JSON.stringify(figures));
