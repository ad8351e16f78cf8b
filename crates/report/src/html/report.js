// Draws the report's plots from the data in the page, on top of page.js.
(() => {
  const { colour, styleOf, legend, onPaper, PAPER_WIDTH } = page;
  const PHASE_FILLS = ["#b9c0c7", "#56b4e9", "#f0e442", "#e69f00", "#d55e00", "#009e73"];
  const MARK_STYLES = {
    "exit": { colour: "black", dash: "solid" }, "su-end": { colour: "green", dash: "dash" },
    "timeout": { colour: "vermillion", dash: "dashdot" }, "reduction": { colour: "orange", dash: "dot" },
    "undo": { colour: "purple", dash: "dot" }, "restart": { colour: "purple", dash: "dash" },
  };
  const WINDOWS = ["first", "startup", "whole"];
  const MARGIN = { l: 62, r: 14, b: 44 };
  // Rows of words above a plot: fewer where there is room beside each other.
  const FLAG_ROW = 14, FLAG_FONT = "11px system-ui, sans-serif";

  // ---- data -------------------------------------------------------------------------------------------
  const digitValue = new Uint8Array(128);
  [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"]
    .forEach((digit, value) => { digitValue[digit.charCodeAt(0)] = value; });

  /** Numbers from differences in base-64 variable-length digits. */
  function decode(text, count) {
    const numbers = new Float64Array(count);
    let at = 0, total = 0;
    for (let i = 0; i < count; i++) {
      let value = 0, scale = 1, digit;
      do {
        digit = digitValue[text.charCodeAt(at++)];
        value += (digit & 31) * scale;
        scale *= 32;
      } while (digit & 32);
      total += value % 2 ? -(value - 1) / 2 : value / 2;
      numbers[i] = total;
    }
    return numbers;
  }

  const data = JSON.parse(document.getElementById("drawing").textContent);
  const PHASES = data.is_capture ? ["handshake", "start-up", "restart", "repair", "after timeout", "later"]
    : ["handshake", "start-up", "restart", "recovery", "after timeout", "avoidance"];

  /** A series in seconds and the unit that is drawn, thinned in some of the windows that end at these ticks. */
  function series(trace, scale, { tick, windows: ends }) {
    const x = decode(trace.x, trace.n), y = decode(trace.y, trace.n);
    // Points of one thinned bucket have the same link: what was between them is not here.
    const link = new Float64Array(trace.n).fill(-1);
    let region = 0;
    for (let i = 0; i < trace.n; i++) {
      while (region < ends.length - 1 && x[i] >= ends[region]) region++;
      if (trace.thinned[region]) {
        const start = region ? ends[region - 1] : 0, length = Math.max(1, ends[region] - start);
        link[i] = region * data.buckets + Math.floor(Math.min(x[i] - start, length - 1) * data.buckets / length);
      }
      x[i] *= tick;
      y[i] *= scale;
    }
    return { x, y, link, of: trace.of };
  }

  const flows = data.flows.map((flow, index) => {
    const perPacket = 1 / flow.mss;
    const phases = { from: decode(flow.phases.from, flow.phases.n), to: decode(flow.phases.to, flow.phases.n),
      kind: decode(flow.phases.kind, flow.phases.n) };
    return {
      label: flow.label, mss: flow.mss, index,
      ...styleOf(index),
      firstData: flow.first_data === null ? null : flow.first_data * flow.tick,
      windows: flow.windows.map((end) => end * flow.tick),
      sends: series(flow.sends, 1, flow), retransmissions: series(flow.retransmissions, 1, flow), drops: series(flow.drops, 1, flow),
      acks: series(flow.acks, 1, flow), delivered: series(flow.delivered, 1, flow), cwnd: series(flow.cwnd, perPacket, flow),
      ssthresh: series(flow.ssthresh, perPacket, flow), inFlight: series(flow.in_flight, perPacket, flow),
      rtt: series(flow.rtt, 1e-3, flow), queue: series(flow.queue, 1, flow),
      phases: Array.from(phases.from, (from, i) => ({ from: from * flow.tick, to: phases.to[i] * flow.tick, kind: phases.kind[i] })),
      marks: flow.marks.map(([at, kind, text]) => ({ at: at * flow.tick, kind, text })),
      marksLeftOut: flow.marks_left_out,
    };
  });
  const ideal = series(data.ideal, 1, { tick: data.tick, windows: [] });

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

  // ---- what the screen shows --------------------------------------------------------------------------
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

  /** Dots within [a, b], one of each cell of the screen where there are many. */
  function dotsIn(cloud, a, b, buckets) {
    let from = after(cloud.x, a);
    const to = after(cloud.x, b), x = [], y = [];
    while (from > 0 && cloud.x[from - 1] === a) from--;
    const isCrowded = to - from > 2500;
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
    }
    return { x, y };
  }

  // ---- looks ------------------------------------------------------------------------------------------
  /** Text for the plotting library, which reads tags. */
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  function axis(more) {
    return { gridcolor: colour("grid"), linecolor: colour("line"), zeroline: false, ticks: "outside", ticklen: 4,
      tickcolor: colour("line"), automargin: false, showline: true, ...more };
  }

  function layout(view, more) {
    return {
      width: view.width(), height: Number(view.element.dataset.height), margin: { ...MARGIN, t: view.top() }, hovermode: false,
      // A finger that is put on a plot scrolls the page.
      dragmode: hasMouse ? "zoom" : false,
      showlegend: false, paper_bgcolor: colour("paper"), plot_bgcolor: colour("paper"),
      font: { family: "system-ui, sans-serif", size: 12, color: colour("ink") }, ...more,
    };
  }

  // The library's own buttons cannot be reached by keyboard; the page has buttons of its own.
  const CONFIG = { displayModeBar: false, doubleClick: "autosize", scrollZoom: false };
  const hasMouse = window.matchMedia("(any-pointer: fine)").matches;

  const ruler = document.createElement("canvas").getContext("2d");
  const lengthOf = (text, font) => { ruler.font = font; return ruler.measureText(text).width; };
  const clip = (text, room, font) => {
    if (lengthOf(text, font) <= room) return text;
    let most = text.length;
    while (most > 1 && lengthOf(text.slice(0, most) + "…", font) > room) most--;
    return text.slice(0, most) + "…";
  };
  /** The text in lines that fit. */
  const wrap = (text, room, font) => text.split(" ").reduce((lines, part) => {
    const last = lines[lines.length - 1];
    if (last !== undefined && lengthOf(`${last} ${part}`, font) <= room) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(clip(part, room, font));
    return lines;
  }, []);

  const bytes = (value) => {
    if (value === null) return "–";
    const [unit, name] = value >= 1e6 ? [1e6, "MB"] : value >= 1e3 ? [1e3, "kB"] : [1, "B"];
    return (value / unit).toFixed(unit === 1 ? 0 : 3) + " " + name;
  };
  const decimals = (value, places, unit) => value === null ? "–" : value.toFixed(places) + " " + unit;
  /** A value in words, said to be a guess where it is one. */
  const about = ([value, isAGuess], show) => (isAGuess ? "≈ " : "") + show(value);
  const packets = (places) => (value) => decimals(value, places, "p");

  // ---- a plot with a cursor, a readout and a window -----------------------------------------------------
  const views = [];

  class View {
    constructor(element, ends) {
      this.element = element;
      this.ends = ends;
      this.range = [0, ends[1]];
      this.chosen = "startup";
      this.readout = element.appendChild(document.createElement("div"));
      this.readout.className = "readout";
      this.surface = element.appendChild(document.createElement("div"));
      this.surface.className = "surface";
      this.graph = this.surface.appendChild(document.createElement("div"));
      this.cursor = this.surface.appendChild(document.createElement("div"));
      this.cursor.className = "cursor";
      this.cursor.style.bottom = MARGIN.b + "px";
      this.at = null;
      this.isDrawn = false;
      this.surface.style.minHeight = element.dataset.height + "px";
      this.surface.addEventListener("mousemove", (event) => this.point(event));
      this.surface.addEventListener("mouseleave", () => this.read(null));
      element.addEventListener("keydown", (event) => this.key(event));
      this.read(null);
      views.push(this);
    }

    /** The margin above the plot. */
    top() { return 10; }
    width() { return page.isOnPaper ? PAPER_WIDTH : Math.max(320, this.element.clientWidth); }
    pixels() { return this.width() - MARGIN.l - MARGIN.r; }
    buckets() { return Math.max(200, Math.round(this.pixels() / 1.5)); }

    draw() {
      const { traces, layout } = this.picture(this.range[0], this.range[1]);
      if (this.isDrawn) {
        Plotly.react(this.graph, traces, layout, CONFIG);
      } else {
        this.isDrawn = true;
        Plotly.newPlot(this.graph, traces, layout, CONFIG);
        this.graph.on("plotly_relayout", (change) => this.moved(change));
      }
      this.press();
      this.place();
    }

    /** The reader zoomed with the mouse. */
    moved(change) {
      if ("xaxis.range[0]" in change) this.ask([change["xaxis.range[0]"], change["xaxis.range[1]"]]);
      else if (change["xaxis.autorange"]) this.ask([0, this.ends[2]]);
    }

    /** Shows a range here, or everywhere where plots zoom together. */
    ask(range) {
      const isTogether = document.getElementById("together").checked;
      (isTogether ? views : [this]).forEach((view) => view.show(range));
    }

    show([from, to]) {
      const start = Math.max(0, Math.min(from, to)), end = Math.min(this.ends[2], Math.max(from, to));
      if (end - start >= 10 * data.tick) this.range = [start, end];
      if (this.isDrawn) this.draw(); else this.press();
    }

    window(name) {
      this.chosen = name;
      this.show([0, this.ends[WINDOWS.indexOf(name)]]);
    }

    /** Of windows that end together, the one that was asked for is pressed. */
    press() {
      const shown = WINDOWS.filter((_, at) => this.range[0] === 0 && this.range[1] === this.ends[at]);
      const pressed = shown.includes(this.chosen) ? this.chosen : shown[0];
      this.element.closest("section").querySelectorAll("[data-window]").forEach((button) =>
        button.setAttribute("aria-pressed", String(button.dataset.window === pressed)));
    }

    point(event) {
      const left = event.clientX - this.surface.getBoundingClientRect().left - MARGIN.l;
      const share = left / this.pixels();
      this.read(share < 0 || share > 1 ? null : this.range[0] + share * (this.range[1] - this.range[0]));
    }

    read(t) {
      this.at = t;
      this.readout.replaceChildren(...this.words(t));
      this.place();
    }

    place() {
      const share = this.at === null ? -1 : (this.at - this.range[0]) / (this.range[1] - this.range[0]);
      this.cursor.style.display = share >= 0 && share <= 1 ? "block" : "none";
      this.cursor.style.top = this.top() + "px";
      this.cursor.style.left = MARGIN.l + share * this.pixels() + "px";
    }

    /** The plot as it is, as a file. */
    save(name) {
      if (!this.isDrawn) this.draw();
      const height = Number(this.element.dataset.height);
      return Plotly.downloadImage(this.graph, { format: "svg", filename: name, width: this.width(), height });
    }

    key(event) {
      if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
      const [from, to] = this.range, length = to - from;
      const middle = this.at ?? from + length / 2;
      const step = length / (event.shiftKey ? 10 : 100);
      const zoom = (factor) => {
        const start = Math.max(0, middle - (middle - from) * factor);
        this.ask([start, Math.min(this.ends[2], start + length * factor)]);
      };
      const move = (t) => { this.readout.setAttribute("aria-live", "polite"); this.read(Math.min(to, Math.max(from, t))); };
      const actions = {
        ArrowLeft: () => move(middle - step), ArrowRight: () => move(middle + step),
        "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => this.ask([0, this.ends[2]]),
        Escape: () => this.read(null),
      };
      if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
    }
  }

  function word(name, value, className) {
    const span = document.createElement("span");
    if (className) span.className = className;
    span.append(name + " ");
    span.appendChild(document.createElement("b")).textContent = value;
    return span;
  }

  function note(text) {
    const span = document.createElement("span");
    span.textContent = text;
    return span;
  }

  const deliveredAt = (flow, t) => { const [value, isAGuess] = valueAt(flow.delivered, t); return [value ?? 0, isAGuess]; };

  // ---- bytes delivered, all schemes ----------------------------------------------------------------------
  class Overview extends View {
    constructor(element, ends) {
      super(element, ends);
      this.hidden = new Set();
      const lines = flows.map((flow) => ({ name: flow.label, colour: flow.colour, dash: flow.dash }));
      if (ideal.x.length) lines.unshift({ name: "ideal", colour: "muted", dash: "6px,4px" });
      legend(document.getElementById("legend"), lines, this.hidden, () => this.draw());
    }

    picture(a, b) {
      const traces = flows.filter((flow) => !this.hidden.has(flow.label)).map((flow) => ({
        type: "scatter", mode: "lines", ...stepsIn(flow.delivered, a, b, this.buckets()), name: plain(flow.label),
        line: { color: colour(flow.colour), width: 1.8, dash: flow.dash },
      }));
      if (ideal.x.length && !this.hidden.has("ideal")) {
        const from = after(ideal.x, a), to = after(ideal.x, b);
        const x = [a, ...ideal.x.slice(from, to)], y = [idealAt(a), ...ideal.y.slice(from, to)];
        if (to < ideal.x.length) { x.push(b); y.push(idealAt(b)); }
        traces.unshift({ type: "scatter", mode: "lines", x, y, name: "ideal",
          line: { color: colour("muted"), width: 1.4, dash: "6px,4px" } });
      }
      return { traces, layout: layout(this, {
        xaxis: axis({ range: [a, b], title: { text: "s since the SYN", standoff: 6 } }),
        yaxis: axis({ fixedrange: true, rangemode: "tozero", tickformat: "~s", ticksuffix: "B" }),
      }) };
    }

    words(t) {
      if (t === null) return [note("Point at the plot to read it.")];
      const all = flows.map((flow) => word(flow.label, about(deliveredAt(flow, t), bytes)));
      return [word("t", decimals(t, 4, "s")), ...(ideal.x.length ? [word("ideal", bytes(idealAt(t)))] : []), ...all];
    }
  }

  // ---- one scheme ----------------------------------------------------------------------------------------
  const DOMAINS = data.is_capture ? [[0.55, 0.925], [0.26, 0.47], [0, 0.18]]
    : [[0.625, 0.925], [0.405, 0.565], [0.205, 0.345], [0, 0.145]];
  const RIBBON = [0.972, 1];

  class Panel extends View {
    constructor(element, flow) {
      super(element, flow.windows);
      this.flow = flow;
      const drawn = ["sends", "retransmissions", "acks", "cwnd", "ssthresh", "rtt", ...(data.is_capture ? [] : ["drops", "inFlight", "queue"])];
      const sum = (of) => drawn.reduce((total, name) => total + of(flow[name]), 0);
      const kept = sum((one) => one.x.length), all = sum((one) => one.of);
      this.idle = `${kept.toLocaleString("en")} of ${all.toLocaleString("en")} recorded points are drawn from this file. Point at a plot to read it.`;
      this.read(null);
    }

    picture(a, b) {
      const flow = this.flow, buckets = this.buckets();
      const steps = (line, axis, name, width, dash) => ({ type: "scatter", mode: "lines", ...stepsIn(line, a, b, buckets), yaxis: axis,
        line: { color: colour(name), width, dash: dash ?? "solid" } });
      const dots = (cloud, axis, marker) => ({ type: "scatter", mode: "markers", ...dotsIn(cloud, a, b, buckets), yaxis: axis, marker });
      const ssthresh = steps(flow.ssthresh, "y2", "orange", 1.3, "dash");
      ssthresh.y = ssthresh.y.map((value) => value < 0 ? null : value);
      const cwnd = steps(flow.cwnd, "y2", "blue", 1.7), inFlight = steps(flow.inFlight, "y2", "sky", 1);
      // The threshold may stand far above: the windows set the scale.
      const top = Math.max(1, ...cwnd.y, ...inFlight.y) * 1.08;
      const sent = dots(flow.sends, "y", { color: colour("blue"), size: 3 });
      const all = [
        steps(flow.acks, "y", "green", 1.1), sent,
        dots(flow.retransmissions, "y", { color: colour("orange"), size: 5, symbol: "circle-open", line: { width: 1.2 } }),
        dots(flow.drops, "y", { color: colour("vermillion"), size: 5, symbol: "x-thin", line: { width: 1.2, color: colour("vermillion") } }),
        inFlight, cwnd, ssthresh,
        dots(flow.rtt, "y3", { color: colour("green"), size: 2.6 }),
        { ...steps(flow.queue, "y4", "purple", 1.2), fill: "tozeroy", fillcolor: colour("purple") + "2e" },
      ];
      // A capture knows of no window but the flight, of no drop and of no queue.
      const traces = data.is_capture ? all.filter((trace) => trace.y.length && trace.yaxis !== "y4" && trace !== inFlight) : all;
      const y = (at, more) => axis({ domain: DOMAINS[at], anchor: "x", fixedrange: true, nticks: at ? 5 : 7, ...more });
      return { traces, layout: layout(this, {
        xaxis: axis({ range: [a, b], anchor: data.is_capture ? "y3" : "y4", title: { text: "s since the SYN", standoff: 6 } }),
        yaxis: y(0, { tickformat: "~s", ticksuffix: "B" }), yaxis2: y(1, { range: [0, top] }),
        yaxis3: y(2, {}), ...(data.is_capture ? {} : { yaxis4: y(3, { rangemode: "tozero" }) }),
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

    /** Marks as lines through all four plots; of many too close to tell apart, one. */
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
      const isFlag = (mark) => (mark.kind === "exit" || mark.kind === "timeout" || mark.kind === "su-end") && mark.at >= a && mark.at <= b;
      return this.flow.marks.filter(isFlag).slice(0, 12).flatMap((mark) => {
        const at = (mark.at - a) * scale, isRight = at > this.pixels() / 2, room = (isRight ? at : this.pixels() - at) - 10;
        const says = mark.kind === "exit" ? "exit by " + mark.text.replace(/^start-up left by /, "") : mark.kind === "timeout" ? "timeout" : "start-up over";
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

    words(t) {
      const flow = this.flow;
      if (!flow || t === null) return this.idle ? [note(this.idle)] : [];
      const ssthresh = valueAt(flow.ssthresh, t);
      const phase = flow.phases.find((span) => span.from <= t && t < span.to);
      const near = (this.range[1] - this.range[0]) / this.pixels() * 4;
      const marks = flow.marks.filter((mark) => Math.abs(mark.at - t) <= near).slice(0, 2);
      return [
        word("t", decimals(t, 4, "s")),
        ...(flow.firstData === null ? [] : [word("since data", decimals(t - flow.firstData, 4, "s"))]),
        word("sent", about(dotAt(flow.sends, t), bytes)), word("acked", about(valueAt(flow.acks, t), bytes)),
        word(data.is_capture ? "in flight" : "cwnd", about(valueAt(flow.cwnd, t), packets(1))),
        word(data.is_capture ? "receiver's window" : "ssthresh", ssthresh[0] === null || ssthresh[0] < 0 ? "none" : about(ssthresh, packets(1))),
        ...(data.is_capture ? [] : [word("in flight", about(valueAt(flow.inFlight, t), packets(1)))]),
        word("RTT", about(dotAt(flow.rtt, t), (rtt) => decimals(rtt, 2, "ms"))),
        ...(data.is_capture ? [] : [word("queue", about(valueAt(flow.queue, t), packets(0)))]),
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
      ["Sequence", "", [["●", "blue", "sent"], again, acked, ["✕", "vermillion", "dropped"]]],
      ["Window", ", packets", [["━", "blue", "cwnd"], ["╍", "orange", "ssthresh"], ["━", "sky", "in flight"]]],
      ["Round-trip time", ", ms", []],
      ["Bottleneck queue", ", packets", []],
    ];
    return texts.map(([name, unit, keys], at) => {
      const words = ([symbol, , what, short], isShort) => `${symbol} ${isShort && short || what}`;
      const length = lengthOf([name + unit, ...keys.map((key) => words(key, false))].join("   "), "bold 12px system-ui, sans-serif");
      const isShort = length > room;
      const said = keys.map((key) => `<span style="color:${colour(key[1])}">${key[0]}</span> ${words(key, isShort).slice(2)}`);
      return { text: [`<b>${name}</b>${unit}`, ...said].join(isShort ? "  " : "   "), xref: "paper", yref: "paper", x: 0, y: DOMAINS[at][1],
        xanchor: "left", yanchor: "bottom", yshift: 3, borderpad: 0, showarrow: false, font: { size: isShort ? 11 : 12, color: colour("ink") } };
    });
  }

  function listEvents(section, flow) {
    const body = section.querySelector(".events tbody");
    const row = (cells) => {
      const line = body.insertRow();
      cells.forEach((cell, at) => { const td = line.insertCell(); td.textContent = cell; if (at) td.className = "words"; });
    };
    flow.marks.forEach((mark) => row([mark.at.toFixed(4), mark.kind, mark.text]));
    if (flow.marksLeftOut) row(["", "", `and ${flow.marksLeftOut} more`]);
    if (!flow.marks.length) section.querySelector(".events").remove();
  }

  // ---- the page ------------------------------------------------------------------------------------------
  const swatches = () => document.querySelectorAll(".swatch").forEach((swatch) => {
    swatch.style.background = `var(--${flows[Number(swatch.dataset.flow)].colour})`;
  });
  const drawAll = () => views.forEach((view) => { if (view.isDrawn) view.draw(); });

  const overview = document.getElementById("overview");
  if (overview) {
    swatches();
    // A flow that never leaves start-up must not stretch everyone's start-up to the whole run.
    const left = flows.filter((flow) => flow.windows[1] < flow.windows[2]);
    const drawn = (at) => (at === 1 && left.length > 0 ? left : flows);
    const all = new Overview(overview, [0, 1, 2].map((at) => Math.max(...drawn(at).map((flow) => flow.windows[at]))));
    document.querySelector("[data-save-all]").addEventListener("click", () => all.save("delivered"));
    document.querySelectorAll(".panel").forEach((section) => {
      const element = section.querySelector(".plot"), flow = flows[Number(element.dataset.flow)];
      const view = new Panel(element, flow);
      listEvents(section, flow);
      view.press();
      section.querySelectorAll("[data-window]").forEach((button) =>
        button.addEventListener("click", () => view.window(button.dataset.window)));
      section.querySelector("[data-save]").addEventListener("click", () => view.save(flow.label.replace(/[^\w.+-]+/g, "-")));
    });
    document.querySelectorAll("[data-all]").forEach((button) => button.addEventListener("click", () =>
      views.forEach((view) => view.window(button.dataset.all))));

    // A plot is drawn when it comes near the screen.
    const nearby = new IntersectionObserver((entries) => entries.forEach((entry) => {
      const view = views.find((one) => one.element === entry.target);
      if (entry.isIntersecting && !view.isDrawn) view.draw();
    }), { rootMargin: "800px" });
    views.forEach((view) => nearby.observe(view.element));
    // The others follow one by one when there is nothing else to do.
    const whenIdle = (work) => window.requestIdleCallback ? requestIdleCallback(work, { timeout: 500 }) : setTimeout(work, 200);
    const drawNext = () => {
      const next = views.find((view) => !view.isDrawn);
      if (next) { next.draw(); whenIdle(drawNext); }
    };
    whenIdle(drawNext);

    let waiting = 0;
    window.addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { if (!page.isOnPaper) drawAll(); }, 120);
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  }

  onPaper((is) => { if (is) views.forEach((view) => view.draw()); else drawAll(); });
})();
