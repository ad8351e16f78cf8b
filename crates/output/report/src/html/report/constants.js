// How the report's plots are coloured and spaced. The files of the report are one script, put together in html.rs.

const { colour, placed, legend, onPaper, PAPER_WIDTH } = page;
const PHASE_FILLS = ["#b9c0c7", "#56b4e9", "#f0e442", "#e69f00", "#d55e00", "#009e73"];
const MARK_STYLES = {
  "exit": { colour: "black", dash: "solid" }, "su-end": { colour: "green", dash: "dash" },
  "timeout": { colour: "vermillion", dash: "dashdot" }, "reduction": { colour: "orange", dash: "dot" },
  "undo": { colour: "purple", dash: "dot" }, "restart": { colour: "purple", dash: "dash" },
};
/** The marks that have words above a plot, and which. */
const FLAGS = {
  "exit": (text) => text.replace(/^start-up left by /, "exit by "), "restart": (text) => text,
  "timeout": () => "timeout", "su-end": () => "start-up over",
};
// Windows that begin with the SYN, by their ends; the restarts have windows of their own.
const WINDOWS = ["first", "startup", "whole"];
const MARGIN = { l: 62, r: 14, b: 44 };
// Rows of words above a plot: fewer where there is room beside each other.
const FLAG_ROW = 14, FLAG_FONT = "11px system-ui, sans-serif";
/** The clock of all plots. */
const CLOCK = "s since the first data";
