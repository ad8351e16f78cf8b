// What all plots ask of the plotting library: axes, margins, how they answer to a mouse.

/** Text for the plotting library, which reads tags. */
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function axis(more) {
  return { gridcolor: colour("grid"), linecolor: colour("line"), zeroline: false, ticks: "outside", ticklen: 4,
    tickcolor: colour("line"), automargin: false, showline: true, ...more };
}

/** An axis of bytes as high as these traces, with steps of 1, 2 or 5, all in one unit. */
function byteAxis(traces, most, more) {
  let low = Infinity, high = -Infinity;
  for (const { y } of traces) {
    for (const value of y) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) [low, high] = [0, 1];
  // What begins near nought shows where nought is.
  if (low < high / 10) low = Math.min(low, 0);
  const room = Math.max(1, high - low), [unit, name] = byteUnit(high);
  const decade = 10 ** Math.floor(Math.log10(room / most));
  const step = Math.max(1, [1, 2, 5, 10].map((one) => one * decade).find((one) => one * most >= room));
  const tickvals = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) tickvals.push(tick);
  return axis({ range: [low - room * 0.05, high + room * 0.05], fixedrange: true, tickmode: "array", tickvals,
    ticktext: tickvals.map((tick) => tick === 0 ? "0" : `${Number((tick / unit).toPrecision(6))} ${name}`), ...more });
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
