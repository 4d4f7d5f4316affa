// Charts over time as SVG: lines over a common axis, what they show as text, too. They are as wide as their place, and
// their text keeps its size: only the lines are stretched.

import { svg } from "./parts.js";

const WIDTH = 1000, HEIGHT = 160, LEFT = 64, BOTTOM = 22, TOP = 8, RIGHT = 8;

// The next of 1, 2, 5, 10, ... that is at least `value`; of bytes the next of 2, 3, 4, 6, 8, ...
function roundUp(value, binary) {
  const [base, steps] = binary ? [2, [1, 1.5, 2]] : [10, [1, 2, 5, 10]];
  const power = base ** Math.floor(Math.log(value) / Math.log(base));
  return steps.map((step) => step * power).find((step) => step >= value);
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
  const largest = Math.max(1, ...shown.flatMap((line) => line.values.filter((value) => value !== null)));
  const unit = / (\S*B)$/;
  const most = roundUp(largest, unit.test(text(largest)));
  // All of an axis in the unit of its end.
  const [, named] = unit.exec(text(most)) ?? [];
  const tick = (value) => (named ? `${Number(((value / most) * parseFloat(text(most))).toFixed(2))} ${named}` : text(value));
  const x = (time) => (WIDTH * (time - first)) / Math.max(1, end - first);
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  // A value that the words round to a neighbour's has no line.
  const ticks = [0, most / 2, most].filter((value, at, all) => at !== 1 || ![tick(all[0]), tick(all[2])].includes(tick(value)));
  const parts = ticks.flatMap((value) => [
    svg("line", { class: "grid", x1: 0, x2: "100%", y1: y(value), y2: y(value) }),
    svg("text", { x: -6, y: y(value) + 4, "text-anchor": "end" }, tick(value)),
  ]);
  const seconds = end - first < 6e5 ? { second: "2-digit" } : {};
  const clock = (time) => new Date(time).toLocaleString([], end - first > 36e5 * 20 ? { month: "short", day: "numeric" } : { hour: "2-digit", minute: "2-digit", ...seconds });
  for (const [time, at, anchor] of [[first, "0%", "start"], [(first + end) / 2, "50%", "middle"], [end, "100%", "end"]]) {
    parts.push(svg("text", { x: at, y: HEIGHT - 6, "text-anchor": anchor }, clock(time)));
  }
  const paths = shown.map((line) => {
    let path = "";
    line.values.forEach((value, at) => {
      if (value === null) return;
      const begins = at === 0 || line.values[at - 1] === null;
      path += `${begins ? "M" : "L"}${x(times[at]).toFixed(1)} ${y(Math.min(value, most)).toFixed(1)}`;
    });
    return svg("path", { class: `line ${line.kind}`, d: path, "vector-effect": "non-scaling-stroke" });
  });
  const words = `${title}: ${shown.map((line) => `${line.label} ${text(last(line))}`).join(", ")}; ${clock(first)} to ${clock(end)}`;
  const picture = svg("svg", { role: "img", "aria-label": words }, ...parts,
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", width: "100%", height: HEIGHT }, ...paths));
  picture.style.cssText = `height:${HEIGHT}px;width:calc(100% - ${LEFT + RIGHT}px);margin-left:${LEFT}px;overflow:visible`;
  figure.append(picture);
  return figure;
}
