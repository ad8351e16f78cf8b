// What all plots ask of the plotting library: axes, margins, how they answer to a mouse.

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
