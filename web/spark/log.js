// The end of an executor's or driver's log, from /log/ with the same query.

const text = document.getElementById("text");

async function load() {
  const answer = await fetch(new URL(`../log/${location.search}`, import.meta.url));
  text.textContent = await answer.text();
  text.scrollIntoView(false);
}

document.getElementById("again").addEventListener("click", load);
load();
