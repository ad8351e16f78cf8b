// The chosen runs on the same axes: their windows, and how far they lag behind the ideal, or without one what they delivered.

const deliveredAt = (flow, t) => { const [value, isAGuess] = valueAt(flow.delivered, t); return [value ?? 0, isAGuess]; };
const HAS_LAG = ideal.x.length > 0;

/** When the ideal had delivered so many bytes; null if it never had. */
function idealTime(bytes) {
  let low = 0, high = ideal.y.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ideal.y[middle] < bytes) low = middle + 1; else high = middle;
  }
  if (low === ideal.y.length) return null;
  const rise = low ? ideal.y[low] - ideal.y[low - 1] : 0;
  return rise > 0 ? ideal.x[low] - (ideal.y[low] - bytes) / rise * (ideal.x[low] - ideal.x[low - 1]) : ideal.x[low];
}

/** The seconds by which what is delivered at t is later than the ideal; null before the first byte. */
function lagOf(delivered, t) {
  const then = delivered > 0 ? idealTime(delivered) : null;
  return then === null ? null : t - then;
}

class Overview extends View {
  constructor(element, start, ends, restarts) {
    super(element, start, ends, restarts);
    const redraw = () => { swatches(); this.draw(); if (this.isDrawn) this.tellAddress(); };
    this.choose = legend(document.getElementById("legend"), flows, redraw);
  }

  runs() { return flows.filter((flow) => flow.isShown); }
  top() { return 24; }

  picture(a, b) {
    const shown = this.runs(), buckets = this.buckets();
    const line = (flow, x, y, axis) => ({ type: "scatter", mode: "lines", x, y, yaxis: axis, name: plain(flow.label), connectgaps: false,
      line: { color: colour(flow.colour), width: 1.8, dash: flow.dash } });
    const windows = shown.map((flow) => { const { x, y } = stepsIn(flow.cwnd, a, b, buckets); return line(flow, x, y, "y"); });
    const peak = windows.reduce((most, trace) => trace.y.reduce((p, q) => Math.max(p, q), most), 1);
    // The line of the run that ends last.
    const last = shown.reduce((one, flow) => one && one.windows[2] >= flow.windows[2] ? one : flow, null);
    const product = last ? stepsIn(last.product, a, b, buckets) : { x: [], y: [] };
    const highest = product.y.reduce((p, q) => Math.max(p, q), 0);
    const top = (highest <= data.reference.room * peak ? Math.max(peak, highest) : peak) * 1.08;
    const below = shown.map((flow) => {
      const { x, y } = stepsIn(flow.delivered, a, b, buckets);
      return line(flow, x, HAS_LAG ? y.map((bytes, i) => lagOf(bytes, x[i])) : y, "y2");
    });
    const reference = { type: "scatter", mode: "lines", ...product, yaxis: "y", name: data.reference.name, line: { color: colour("ink"), width: 1.2, dash: "dot" } };
    const lag = () => {
      const most = below.reduce((most, trace) => trace.y.reduce((p, q) => Math.max(p, Math.abs(q ?? 0)), most), 0), isLong = most >= 2;
      if (!isLong) below.forEach((trace) => { trace.y = trace.y.map((seconds) => seconds === null ? null : seconds * 1e3); });
      return [`<b>Lag behind the ideal</b>, ${isLong ? "s" : "ms"}   lower is better; below 0, more than the ideal was delivered`, axis({ rangemode: "tozero", nticks: 6 })];
    };
    const [title, axis2] = HAS_LAG ? lag()
      : [`<b>${data.is_capture ? "Acknowledged" : "Delivered"}</b> in order`, byteAxis(a > this.start ? below : [{ y: [0] }, ...below], 5)];
    const bdp = product.x.length ? `   <span>┈</span> ${data.reference.name}` : "";
    const said = (text, y) => ({ text, xref: "paper", yref: "paper", x: 0, y, xanchor: "left", yanchor: "bottom", yshift: 3, borderpad: 0,
      showarrow: false, font: { size: this.pixels() < 500 ? 11 : 12, color: colour("ink") } });
    const short = this.pixels() < 600 ? title.replace(/ {3}.*/, "") : title;
    return { traces: [...(product.x.length ? [reference] : []), ...windows, ...below], layout: layout(this, {
      xaxis: axis({ range: [a, b], anchor: "y2", title: { text: CLOCK, standoff: 6 } }),
      yaxis: axis({ domain: [0.56, 1], anchor: "x", fixedrange: true, nticks: 6, range: [0, top] }),
      yaxis2: { ...axis2, domain: [0, 0.46], anchor: "x", fixedrange: true },
      annotations: [said(`<b>${data.is_capture ? "In flight" : "Window"}</b>, packets${bdp}`, 1), said(short, 0.46)],
    }) };
  }

  words(t) {
    if (t === null) return [note("Point at the plot to read it.")];
    const says = (flow) => {
      const window = about(valueAt(flow.cwnd, t), packets(0)), [delivered, isAGuess] = deliveredAt(flow, t);
      const last = flow.delivered.x[flow.delivered.x.length - 1], lag = HAS_LAG && t <= last ? lagOf(delivered, t) : null;
      const behind = lag === null ? about([delivered, isAGuess], bytes) : `${(lag * 1e3).toFixed(0)} ms behind`;
      return word(flow.label, `${window}, ${behind}`);
    };
    return [word("t", decimals(t, 4, "s")), ...this.runs().map(says)];
  }
}
