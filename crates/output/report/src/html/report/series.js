// A series at one instant, and thinned to what the screen shows of a window.

/** The first index whose x is after t. */
function after(x, t) {
  let low = 0, high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] <= t) low = middle + 1; else high = middle;
  }
  return low;
}

/** Whether points between these two were left out, so that the line between them is a straight guess. */
const isGuess = (line, i) => i >= 0 && i + 1 < line.x.length && line.link[i] >= 0 && line.link[i] === line.link[i + 1]
  && line.y[i] >= 0 && line.y[i + 1] >= 0;

/** The value of steps at t and whether it is a guess; null before the first. */
function valueAt(line, t) {
  const i = after(line.x, t) - 1;
  if (i < 0) return [null, false];
  if (!isGuess(line, i)) return [line.y[i], false];
  return [between(line, i, t), true];
}

/** The latest dot at t, and whether later ones may have been left out. */
function dotAt(cloud, t) {
  const i = after(cloud.x, t) - 1;
  return i < 0 ? [null, false] : [cloud.y[i], cloud.link[i] >= 0];
}

function between(line, i, t) {
  const length = line.x[i + 1] - line.x[i];
  return line.y[i] + (length > 0 ? (t - line.x[i]) / length : 0) * (line.y[i + 1] - line.y[i]);
}

function idealAt(t) {
  const at = after(ideal.x, t);
  if (!at) return ideal.x.length ? 0 : null;
  if (at === ideal.x.length) return ideal.y[at - 1];
  return between(ideal, at - 1, t);
}

/** Steps within [a, b]: each bucket keeps its first, least, greatest and last point. */
function stepsIn(line, a, b, buckets) {
  const from = after(line.x, a), to = after(line.x, b), x = [], y = [];
  const push = (i) => {
    // A step has a corner.
    if (x.length && !isGuess(line, i - 1)) { x.push(line.x[i]); y.push(y[y.length - 1]); }
    x.push(line.x[i]);
    y.push(line.y[i]);
  };
  if (from > 0) { x.push(a); y.push(valueAt(line, a)[0]); }
  if (to - from <= 4 * buckets) {
    for (let i = from; i < to; i++) push(i);
  } else {
    const bucket = (i) => Math.floor((line.x[i] - a) / (b - a) * buckets);
    for (let i = from; i < to;) {
      const first = i, here = bucket(i);
      let least = i, greatest = i;
      while (i < to && bucket(i) === here) {
        if (line.y[i] < line.y[least]) least = i;
        if (line.y[i] > line.y[greatest]) greatest = i;
        i++;
      }
      [...new Set([first, least, greatest, i - 1].sort((p, q) => p - q))].forEach(push);
    }
  }
  // The last value holds until the window or the run ends.
  const end = line.x.length ? Math.min(b, line.x[line.x.length - 1]) : b;
  if (x.length && x[x.length - 1] < end) { x.push(end); y.push(valueAt(line, end)[0]); }
  return { x, y };
}

/** Round trips as dots, joined where one follows the other within either, or where those between them were left out. */
function joined({ x, y, link }) {
  const line = { x: [], y: [] };
  x.forEach((at, i) => {
    const isNear = i > 0 && (at - x[i - 1] <= Math.min(y[i], y[i - 1]) / 1e3 || link[i - 1] >= 0 && link[i] >= 0 && link[i] - link[i - 1] <= 1);
    if (i > 0 && !isNear) { line.x.push(null); line.y.push(null); }
    line.x.push(at);
    line.y.push(y[i]);
  });
  return line;
}

/** Dots within [a, b], one of each cell of the screen where there are many. */
function dotsIn(cloud, a, b, buckets) {
  let from = after(cloud.x, a);
  const to = after(cloud.x, b), x = [], y = [];
  while (from > 0 && cloud.x[from - 1] === a) from--;
  const isCrowded = to - from > 2500, link = [];
  let least = Infinity, greatest = -Infinity;
  for (let i = from; isCrowded && i < to; i++) {
    least = Math.min(least, cloud.y[i]);
    greatest = Math.max(greatest, cloud.y[i]);
  }
  const rows = 120, seen = new Set();
  for (let i = from; i < to; i++) {
    if (isCrowded) {
      const column = Math.floor((cloud.x[i] - a) / (b - a) * buckets);
      const row = Math.floor((cloud.y[i] - least) / (greatest - least || 1) * rows);
      const cell = column * (rows + 1) + row;
      if (seen.has(cell)) continue;
      seen.add(cell);
    }
    x.push(cloud.x[i]);
    y.push(cloud.y[i]);
    link.push(cloud.link[i]);
  }
  return { x, y, link };
}
