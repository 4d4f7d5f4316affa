// Charts over time as SVG: lines over a common axis, what they show as text, too.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640, HEIGHT = 160, LEFT = 64, BOTTOM = 22, TOP = 8, RIGHT = 8;

function node(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// The next of 1, 2, 5, 10, ... that is at least `value`.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

// Times: milliseconds, ascending. Lines: {label, kind, values}, a value a time; null where there is none. `text` makes words of a value.
export function chart(title, times, lines, text) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  const shown = lines.filter((line) => line.values.some((value) => value !== null));
  const last = (line) => line.values.findLast((value) => value !== null);
  caption.append(title);
  for (const line of shown) {
    const label = document.createElement("span");
    label.className = `key ${line.kind}`;
    label.textContent = `${line.label} ${text(last(line))}`;
    caption.append(" ", label);
  }
  figure.append(caption);
  if (times.length < 2 || shown.length === 0) {
    figure.append("There is nothing to draw yet: samples are being taken.");
    return figure;
  }
  const [first, end] = [times[0], times[times.length - 1]];
  const most = roundUp(Math.max(1, ...shown.flatMap((line) => line.values.filter((value) => value !== null))));
  const x = (time) => LEFT + ((WIDTH - LEFT - RIGHT) * (time - first)) / Math.max(1, end - first);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  // A value that the words round to a neighbour's has no line.
  const ticks = [0, most / 2, most].filter((value, at, all) => at !== 1 || ![text(all[0]), text(all[2])].includes(text(value)));
  const parts = ticks.flatMap((value) => [
    node("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
    node("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, text(value)),
  ]);
  const seconds = end - first < 6e5 ? { second: "2-digit" } : {};
  const clock = (time) => new Date(time).toLocaleString([], end - first > 36e5 * 20 ? { month: "short", day: "numeric" } : { hour: "2-digit", minute: "2-digit", ...seconds });
  for (const [time, anchor] of [[first, "start"], [(first + end) / 2, "middle"], [end, "end"]]) {
    parts.push(node("text", { x: x(time), y: HEIGHT - 6, "text-anchor": anchor }, clock(time)));
  }
  for (const line of shown) {
    let path = "";
    line.values.forEach((value, at) => {
      if (value === null) return;
      const begins = at === 0 || line.values[at - 1] === null;
      path += `${begins ? "M" : "L"}${x(times[at]).toFixed(1)} ${y(Math.min(value, most)).toFixed(1)}`;
    });
    parts.push(node("path", { class: `line ${line.kind}`, d: path }));
  }
  const words = `${title}: ${shown.map((line) => `${line.label} ${text(last(line))}`).join(", ")}; ${clock(first)} to ${clock(end)}`;
  figure.append(node("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words }, ...parts));
  return figure;
}
