// The end of an executor's or driver's log, from /log/ with the same query.

import { el, own, show, ways } from "./parts.js";

const asked = new URLSearchParams(location.search);
const whose = asked.get("driverId") ?? `${asked.get("appId")}/${asked.get("executorId")}`;

export async function showLog() {
  ways([["Worker", own("")]]);
  const freshness = document.getElementById("freshness");
  try {
    const answer = await fetch(own(`log/${location.search}`), { cache: "no-store" });
    const again = el("button", { type: "button" }, "read again");
    again.addEventListener("click", showLog);
    const text = el("pre", { tabindex: "0" }, await answer.text());
    show(`${asked.get("logType")} of ${whose}`, [el("h1", {}, asked.get("logType")), el("p", { class: "soft" }, whose), el("div", { class: "chips" }, again), text]);
    text.scrollIntoView(false);
    freshness.className = "";
    freshness.textContent = `as of ${new Date().toLocaleTimeString()}`;
  } catch (error) {
    freshness.className = "stale";
    freshness.textContent = `No answer (${error.message}).`;
  }
}
