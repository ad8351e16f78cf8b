// The report's page, on top of page.js and the files of report/: plots, buttons and lists of events.

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

/** Gaps in a swatch as in its line, for a colour comes back with another dash; of a long dash the end, so that the gap shows. */
function gaps(dash) {
  let at = -3;
  const stops = dash.split(",").map((length, i) => `${i % 2 ? "var(--paper)" : "transparent"} ${at}px ${at += parseInt(length, 10)}px`);
  return `repeating-linear-gradient(to right, ${stops.join(", ")})`;
}

const swatches = () => document.querySelectorAll(".swatch").forEach((swatch) => {
  const flow = flows[Number(swatch.dataset.flow)];
  swatch.style.background = flow.colour ? `var(--${flow.colour})` : "none";
  if (flow.dash !== "solid") swatch.style.backgroundImage = gaps(flow.dash);
});
const drawAll = () => views.forEach((view) => { if (view.isDrawn) view.draw(); });

/** The panel of each run, by its number. */
const panels = [...document.querySelectorAll("details.panel")];
const closeOthers = (section) => panels.forEach((one) => { if (one !== section) one.open = false; });

/** Opens the panel of a run, and no other. */
function openPanel(index, range) {
  const section = panels[index], view = views.find((one) => one.element.closest("details") === section);
  closeOthers(section);
  section.open = true;
  if (range) view.show(range); else view.draw();
  view.tellAddress();
  section.scrollIntoView({ block: "start" });
}

/** Shows what the page's address names: `#scheme=NAME&t=FROM..TO`, or several names with commas between them. */
function followAddress() {
  const parts = Object.fromEntries(location.hash.slice(1).split("&").map((part) => part.split("=")).filter((part) => part.length > 1)
    .map(([key, ...value]) => [key, value.join("=")]));
  if (!parts.scheme) return;
  const names = parts.scheme.split(",").map((name) => { try { return decodeURIComponent(name); } catch { return name; } });
  const chosen = names.map((name) => flows.find((flow) => flow.names.includes(name))).filter((flow) => flow);
  const ends = (parts.t ?? "").split("..").map(Number), range = ends.length === 2 && ends[0] < ends[1] ? ends : null;
  if (chosen.length === 1) openPanel(chosen[0].index, range);
  if (chosen.length > 1) {
    const all = views.find((view) => view instanceof Overview);
    if (range) all.show(range);
    all.choose(chosen);
    all.element.closest("section").scrollIntoView({ block: "start" });
  }
}

/** The drawn points as a table: a line for each point of each series. */
function pointsAsCsv() {
  const units = { sends: "bytes", retransmissions: "bytes", drops: "bytes", acks: "bytes", delivered: "bytes", cwnd: "packets", ssthresh: "packets",
    inFlight: "packets", rtt: "ms", queue: "packets", product: "packets" };
  const lines = [["run", "series", "unit", "seconds_since_first_data", "value"]];
  const add = (run, name, unit, { x, y }) => x.forEach((at, i) => lines.push([run, name, unit, String(Number(at.toFixed(9))), String(Number(y[i].toPrecision(9)))]));
  flows.forEach((flow) => Object.entries(units).forEach(([name, unit]) => add(flow.label, name, unit, flow[name])));
  add("ideal", "delivered", "bytes", ideal);
  return lines.map(page.csv).join("\n") + "\n";
}

const overview = document.getElementById("overview");
if (overview) {
  swatches();
  // A flow that never leaves start-up must not stretch everyone's start-up to the whole run.
  const left = flows.filter((flow) => flow.windows[1] < flow.windows[2]);
  const drawn = (at) => (at === 1 && left.length > 0 ? left : flows);
  const ends = [0, 1, 2].map((at) => Math.max(...drawn(at).map((flow) => flow.windows[at])));
  // A restart of all is the same one of each that has it.
  const restarts = Array.from({ length: Math.max(...flows.map((flow) => flow.restarts.length)) }, (_, at) => {
    const having = flows.filter((flow) => flow.restarts.length > at).map((flow) => flow.restarts[at]);
    return [Math.min(...having.map(([from]) => from)), Math.max(...having.map(([, to]) => to))];
  });
  const all = new Overview(overview, Math.min(...flows.map((flow) => flow.start)), ends, restarts);
  document.querySelectorAll("[data-all=restart]").forEach((button) => all.name(button));
  document.querySelector("[data-save-all]").addEventListener("click", () => all.save("compare"));
  document.querySelector("[data-points]").addEventListener("click", () => page.download("points.csv", "text/csv", pointsAsCsv()));
  panels.forEach((section) => {
    const element = section.querySelector(".plot"), flow = flows[Number(element.dataset.flow)];
    const view = new Panel(element, flow);
    listEvents(section, flow);
    view.press();
    section.querySelectorAll("[data-window]").forEach((button) =>
      button.addEventListener("click", () => { view.window(button.dataset.window, view.nextRestart()); view.tellAddress(); }));
    section.addEventListener("toggle", () => view.draw());
    // One panel at a time: the reader who opens one has done with the others.
    section.querySelector("summary").addEventListener("click", (event) => {
      event.preventDefault();
      if (section.open) section.open = false; else openPanel(view.flow.index);
    });
    section.querySelector("[data-save]").addEventListener("click", () => view.save(flow.label.replace(/[^\w.+-]+/g, "-")));
  });
  all.press();
  document.querySelectorAll("[data-all]").forEach((button) => button.addEventListener("click", () => {
    const restart = all.nextRestart();
    views.forEach((view) => view.window(button.dataset.all, restart));
    document.querySelectorAll("[data-all=restart]").forEach((one) => all.name(one));
  }));

  // What is open is drawn when there is nothing else to do; what is closed, when it is opened.
  const whenIdle = (work) => window.requestIdleCallback ? requestIdleCallback(work, { timeout: 200 }) : setTimeout(work, 50);
  const drawNext = () => {
    const next = views.find((view) => !view.isDrawn && view.isOpen());
    if (next) { next.draw(); whenIdle(drawNext); }
  };
  whenIdle(drawNext);
  document.querySelectorAll("a[data-panel]").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    openPanel(Number(link.dataset.panel));
  }));
  window.addEventListener("hashchange", followAddress);
  followAddress();

  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (!page.isOnPaper) drawAll(); }, 120);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
}

document.querySelectorAll(".tradeoff").forEach(readable);
document.querySelector("[data-numbers]").addEventListener("click", () => {
  const [heads, ...rows] = page.cellsOf(document.getElementById("numbers"), false);
  // A line for each scheme, a column for each field, as in the exports.
  const fields = [...document.querySelectorAll("#numbers tbody th code")].map((code) => code.textContent);
  const lines = heads.slice(1).map((name, at) => [name, ...rows.map((row) => row[at + 1] === "–" ? "" : row[at + 1])]);
  page.download("numbers.csv", "text/csv", [["name", ...fields], ...lines].map(page.csv).join("\n") + "\n");
});

onPaper((is) => { if (is) views.forEach((view) => view.draw()); else drawAll(); });
