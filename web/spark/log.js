// An executor's or driver's log, from /log/ with the same query: its end at first, and what is before and after it by buttons.

import { el, own, show, ways } from "./parts.js";

const asked = new URLSearchParams(location.search);
const whose = asked.get("driverId") ?? `${asked.get("appId")}/${asked.get("executorId")}`;
const PIECE = 100 << 10;

// A part of the log, with the bytes that it has. /log/ says these in its first line: "==== Bytes 0-12 of 99 of /a/b ====".
async function part(range) {
  const query = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(range)) query.set(key, value);
  const answer = await fetch(own(`log/?${query}`), { cache: "no-store" });
  const whole = await answer.text();
  const head = /^==== Bytes (\d+)-(\d+) of (\d+) of .*\n/.exec(whole);
  if (!answer.ok || head === null) throw new Error(whole);
  const [begin, end, total] = head.slice(1, 4).map(Number);
  return { begin, end, total, text: whole.slice(head[0].length) };
}

export async function showLog() {
  ways([["Worker", own("")]]);
  const freshness = document.getElementById("freshness");
  let have;
  const text = el("pre", { tabindex: "0" });
  const place = el("p", { class: "soft" });
  // Reads, takes it into what is shown, and says what that is.
  const act = (take) => async () => {
    try {
      await take();
      place.textContent = `${whose}, bytes ${have.begin} to ${have.end} of ${have.total}`;
      before.disabled = top.disabled = have.begin === 0;
      freshness.className = "";
      freshness.textContent = `as of ${new Date().toLocaleTimeString()}`;
    } catch (error) {
      freshness.className = "stale";
      freshness.textContent = `No answer (${error.message}).`;
    }
  };
  const put = (piece) => {
    have = piece;
    text.textContent = piece.text;
  };
  const button = (words, take) => el("button", { type: "button", onclick: act(take) }, words);
  const before = button("load more", async () => {
    const from = Math.max(0, have.begin - PIECE);
    const piece = await part({ offset: from, byteLength: have.begin - from });
    put({ begin: piece.begin, end: have.end, total: piece.total, text: piece.text + have.text });
  });
  const top = button("top of the log", async () => put(await part({ offset: 0, byteLength: PIECE })));
  const after = button("load what is new", async () => {
    const piece = await part({ offset: have.end, byteLength: PIECE });
    put(piece.begin === have.end ? { begin: have.begin, end: piece.end, total: piece.total, text: have.text + piece.text } : await part({ byteLength: PIECE }));
  });
  const last = button("its end", async () => {
    put(await part({ byteLength: PIECE }));
    text.scrollIntoView(false);
  });
  show(`${asked.get("logType")} of ${whose}`, [el("h1", {}, asked.get("logType")), place, el("div", { class: "chips" }, top, before), text, el("div", { class: "chips" }, after, last)]);
  await act(async () => put(await part({ byteLength: PIECE })))();
  text.scrollIntoView(false);
}
