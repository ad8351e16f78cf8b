// One scheme: sequence, window, round-trip time and queue above each other, with its phases and marks.

const DOMAINS = data.has_network ? [[0.625, 0.925], [0.405, 0.565], [0.205, 0.345], [0, 0.145]]
  : [[0.55, 0.925], [0.26, 0.47], [0, 0.18]];
const RIBBON = [0.972, 1];

class Panel extends View {
  constructor(element, flow) {
    super(element, flow.start, flow.windows, flow.restarts);
    this.flow = flow;
    const drawn = ["sends", "retransmissions", "acks", "cwnd", "ssthresh", "rtt", ...(data.is_capture ? [] : ["drops", "inFlight"]), ...(data.has_network ? ["queue", "product"] : [])];
    const sum = (of) => drawn.reduce((total, name) => total + of(flow[name]), 0);
    const kept = sum((one) => one.x.length), all = sum((one) => one.of);
    this.idle = `${kept.toLocaleString("en")} of ${all.toLocaleString("en")} recorded points are drawn from this file. Point at a plot to read it.`;
    this.read(null);
  }

  runs() { return [this.flow]; }

  picture(a, b) {
    const flow = this.flow, buckets = this.buckets();
    const steps = (line, axis, name, width, dash) => ({ type: "scatter", mode: "lines", ...stepsIn(line, a, b, buckets), yaxis: axis,
      line: { color: colour(name), width, dash: dash ?? "solid" } });
    const dots = (cloud, axis, marker) => {
      const { x, y } = dotsIn(cloud, a, b, buckets);
      return { type: "scatter", mode: "markers", x, y, yaxis: axis, marker };
    };
    const rtt = { type: "scatter", mode: "lines+markers", ...joined(dotsIn(flow.rtt, a, b, buckets)), yaxis: "y3",
      line: { color: colour("green"), width: 0.8 }, marker: { color: colour("green"), size: 2.6 } };
    const ssthresh = steps(flow.ssthresh, "y2", "orange", 1.3, "dash");
    ssthresh.y = ssthresh.y.map((value) => value < 0 ? null : value);
    const cwnd = steps(flow.cwnd, "y2", "blue", 1.7), inFlight = steps(flow.inFlight, "y2", "sky", 1);
    const product = steps(flow.product, "y2", "ink", 1.2, "dot");
    // The threshold may stand far above: the windows set the scale, and the reference line where it is near.
    const peak = Math.max(1, ...cwnd.y, ...inFlight.y), highest = Math.max(0, ...product.y);
    const top = (highest <= data.reference.room * peak ? Math.max(peak, highest) : peak) * 1.08;
    const sent = dots(flow.sends, "y", { color: colour("blue"), size: 3 });
    const all = [
      steps(flow.acks, "y", "green", 1.1), sent,
      dots(flow.retransmissions, "y", { color: colour("orange"), size: 5, symbol: "circle-open", line: { width: 1.2 } }),
      dots(flow.drops, "y", { color: colour("vermillion"), size: 5, symbol: "x-thin", line: { width: 1.2, color: colour("vermillion") } }),
      inFlight, product, cwnd, ssthresh,
      rtt,
      { ...steps(flow.queue, "y4", "purple", 1.2), fill: "tozeroy", fillcolor: colour("purple") + "2e" },
    ];
    // Only who sees the network knows of a queue. A capture knows of no window but the flight, and of no drop.
    const traces = data.has_network ? all
      : all.filter((trace) => trace.y.length && trace.yaxis !== "y4" && !(data.is_capture && trace === inFlight));
    const y = (at, more) => axis({ domain: DOMAINS[at], anchor: "x", fixedrange: true, nticks: 5, ...more });
    const sequence = byteAxis(traces.filter((trace) => trace.yaxis === "y"), 7, { domain: DOMAINS[0], anchor: "x" });
    return { traces, layout: layout(this, {
      xaxis: axis({ range: [a, b], anchor: data.has_network ? "y4" : "y3", title: { text: CLOCK, standoff: 6 } }),
      yaxis: sequence, yaxis2: y(1, { range: [0, top] }),
      yaxis3: y(2, {}), ...(data.has_network ? { yaxis4: y(3, { rangemode: "tozero" }) } : {}),
      shapes: [...this.ribbon(a, b), ...this.lines(a, b)], annotations: [...titles(this.pixels()), ...this.flags(a, b)],
    }) };
  }

  /** The phases, each at least a pixel wide, named where there is room. */
  ribbon(a, b) {
    const scale = this.pixels() / (b - a), shapes = [];
    let lastPixel = -1;
    for (const span of this.flow.phases) {
      if (span.to < a || span.from > b) continue;
      const from = Math.max(a, span.from), to = Math.min(b, Math.max(span.to, span.from + 1 / scale));
      const pixel = Math.floor((to - a) * scale);
      if (pixel === lastPixel) continue;
      lastPixel = pixel;
      const name = PHASES[span.kind], hasRoom = (to - from) * scale > 7 * name.length + 8;
      shapes.push({ type: "rect", xref: "x", yref: "paper", x0: from, x1: to, y0: RIBBON[0], y1: RIBBON[1],
        fillcolor: PHASE_FILLS[span.kind], line: { width: 0 }, layer: "above",
        ...(hasRoom ? { label: { text: name, font: { size: 11, color: "#000" } } } : {}) });
    }
    return shapes;
  }

  /** Marks as lines through all plots; of many too close to tell apart, one. */
  lines(a, b) {
    const scale = this.pixels() / (b - a), last = {};
    return this.flow.marks.filter((mark) => {
      if (mark.at < a || mark.at > b || !MARK_STYLES[mark.kind]) return false;
      const pixel = Math.round((mark.at - a) * scale / 3);
      const isNew = last[mark.kind] !== pixel;
      last[mark.kind] = pixel;
      return isNew;
    }).map((mark) => ({ type: "line", xref: "x", yref: "paper", x0: mark.at, x1: mark.at, y0: 0, y1: RIBBON[0], layer: "above",
      opacity: 0.85, line: { color: colour(MARK_STYLES[mark.kind].colour), dash: MARK_STYLES[mark.kind].dash, width: 1 } }));
  }

  /** Where words stand beside each other, two rows are enough; the exit's are long. */
  rows() { return this.pixels() > 700 ? 3 : 5; }
  top() { return this.rows() * FLAG_ROW + 2; }

  /** The exits in words, above the ribbon: each in the lowest rows that are free. */
  flags(a, b) {
    const scale = this.pixels() / (b - a), taken = [];
    const isFlag = (mark) => FLAGS[mark.kind] && mark.at >= a && mark.at <= b;
    return this.flow.marks.filter(isFlag).slice(0, 12).flatMap((mark) => {
      const at = (mark.at - a) * scale, isRight = at > this.pixels() / 2, room = (isRight ? at : this.pixels() - at) - 10;
      const says = FLAGS[mark.kind](mark.text);
      const lines = wrap(says, room, FLAG_FONT), length = 10 + Math.max(...lines.map((line) => lengthOf(line, FLAG_FONT)));
      const from = isRight ? at - length : at - 5, to = isRight ? at + 5 : at + length;
      const isFree = (row) => !taken.some((one) => one.from < to && from < one.to && one.row < row + lines.length && row < one.row + one.rows);
      const row = [0, 1, 2, 3, 4].find((row) => row + lines.length <= this.rows() && isFree(row));
      if (row === undefined) return [];
      taken.push({ from, to, row, rows: lines.length });
      const common = { xref: "x", yref: "paper", x: mark.at, y: 1, yanchor: "bottom", showarrow: false, borderpad: 0, yshift: row * FLAG_ROW };
      return [
        { ...common, text: "▾", xanchor: "center", font: { size: 11, color: colour(MARK_STYLES[mark.kind].colour) } },
        { ...common, text: lines.map(plain).join("<br>"), xanchor: isRight ? "right" : "left", align: isRight ? "right" : "left",
          xshift: isRight ? -5 : 5, font: { size: 11, color: colour("ink") } },
      ];
    });
  }

  /** The marks with the longest words. */
  wordy() {
    const [from, to] = this.range, marks = this.flow.marks.filter((mark) => mark.at >= from && mark.at <= to);
    const longest = marks.sort((a, b) => b.text.length - a.text.length).slice(0, 12);
    return [to, ...longest.flatMap(({ at }) => [-0.9, 0, 0.9].map((share) => at + share * this.near()))];
  }

  /** How far from a mark its words are said. */
  near() { return (this.range[1] - this.range[0]) / this.pixels() * 4; }

  words(t) {
    const flow = this.flow;
    if (!flow || t === null) return this.idle ? [note(this.idle)] : [];
    const ssthresh = valueAt(flow.ssthresh, t);
    const phase = flow.phases.find((span) => span.from <= t && t < span.to);
    const marks = flow.marks.filter((mark) => Math.abs(mark.at - t) <= this.near()).slice(0, 2);
    return [
      word("t", decimals(t, 4, "s")),
      word("sent", about(dotAt(flow.sends, t), bytes)), word("acked", about(valueAt(flow.acks, t), bytes)),
      word(data.is_capture ? "in flight" : "cwnd", about(valueAt(flow.cwnd, t), packets(1))),
      word(data.is_capture ? "receiver's window" : "ssthresh", ssthresh[0] === null || ssthresh[0] < 0 ? "none" : about(ssthresh, packets(1))),
      ...(data.is_capture ? [] : [word("in flight", about(valueAt(flow.inFlight, t), packets(1)))]),
      word("RTT", about(dotAt(flow.rtt, t), (rtt) => decimals(rtt, 2, "ms"))),
      ...(data.has_network ? [word("queue", about(valueAt(flow.queue, t), packets(0)))] : []),
      ...(phase ? [word("phase", PHASES[phase.kind])] : []),
      ...marks.map((mark) => word(mark.kind, `${decimals(mark.at, 4, "s")}: ${mark.text}`, "mark")),
    ];
  }
}

/** What each plot shows, with its own legend, above it; in fewer words where there is less room. */
function titles(room) {
  const again = ["○", "orange", "sent again", "again"], acked = ["━", "green", "acknowledged", "acked"];
  const texts = data.is_capture ? [
    ["Sequence", "", [["●", "blue", "sent"], again, acked]],
    ["In flight", ", packets", [["━", "blue", "in flight"], ["╍", "orange", "receiver's window", "window"]]],
    ["Round-trip time", ", ms", []],
  ] : [
    ["Sequence", "", [["●", "blue", "sent"], again, acked, ["✕", "vermillion", data.has_network ? "dropped" : "found lost"]]],
    ["Window", ", packets", [["━", "blue", "cwnd"], ["╍", "orange", "ssthresh"], ["━", "sky", "in flight", "flight"],
      ...(data.has_network ? [["┈", "ink", data.reference.name, "BDP"]] : [])]],
    ["Round-trip time", ", ms", []],
    ...(data.has_network ? [["Bottleneck queue", ", packets", []]] : []),
  ];
  return texts.map(([name, unit, keys], at) => {
    const words = ([symbol, , what, short], isShort) => `${symbol} ${isShort && short || what}`;
    const length = lengthOf([name + unit, ...keys.map((key) => words(key, false))].join("   "), "bold 12px system-ui, sans-serif");
    const isShort = length > room;
    const said = keys.map((key) => `<span style="color:${colour(key[1])}">${key[0]}</span> ${words(key, isShort).slice(2)}`);
    return { text: [`<b>${name}</b>${unit}`, ...said].join(isShort ? "  " : "   "), xref: "paper", yref: "paper", x: 0, y: DOMAINS[at][1],
      // A mark's line does not strike its words through.
      bgcolor: colour("paper"),
      xanchor: "left", yanchor: "bottom", yshift: 3, borderpad: 0, showarrow: false, font: { size: isShort ? 11 : 12, color: colour("ink") } };
  });
}
