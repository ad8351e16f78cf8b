// Bytes delivered, of all schemes in one plot.

const deliveredAt = (flow, t) => { const [value, isAGuess] = valueAt(flow.delivered, t); return [value ?? 0, isAGuess]; };

class Overview extends View {
  constructor(element, ends, restarts) {
    super(element, ends, restarts);
    // The ideal has a style that no line of a scheme has.
    this.ideal = { name: "ideal", colour: "muted", dash: "6px,4px", isShown: ideal.x.length > 0 };
    const list = document.getElementById("legend"), redraw = () => { swatches(); this.draw(); };
    if (this.ideal.isShown) legend(list, [this.ideal], redraw);
    legend(list, flows, redraw);
  }

  picture(a, b) {
    const traces = flows.filter((flow) => flow.isShown).map((flow) => ({
      type: "scatter", mode: "lines", ...stepsIn(flow.delivered, a, b, this.buckets()), name: plain(flow.label),
      line: { color: colour(flow.colour), width: 1.8, dash: flow.dash },
    }));
    if (this.ideal.isShown) {
      const from = after(ideal.x, a), to = after(ideal.x, b);
      const x = [a, ...ideal.x.slice(from, to)], y = [idealAt(a), ...ideal.y.slice(from, to)];
      if (to < ideal.x.length) { x.push(b); y.push(idealAt(b)); }
      traces.unshift({ type: "scatter", mode: "lines", x, y, name: "ideal",
        line: { color: colour("muted"), width: 1.4, dash: "6px,4px" } });
    }
    return { traces, layout: layout(this, {
      xaxis: axis({ range: [a, b], title: { text: "s since the SYN", standoff: 6 } }),
      yaxis: byteAxis(a > 0 ? traces : [{ y: [0] }, ...traces], 6),
    }) };
  }

  words(t) {
    if (t === null) return [note("Point at the plot to read it.")];
    const all = flows.filter((flow) => flow.isShown).map((flow) => word(flow.label, about(deliveredAt(flow, t), bytes)));
    return [word("t", decimals(t, 4, "s")), ...(ideal.x.length ? [word("ideal", bytes(idealAt(t)))] : []), ...all];
  }
}
