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
  const all = new Overview(overview, ends, restarts);
  document.querySelectorAll("[data-all=restart]").forEach((button) => all.name(button));
  document.querySelector("[data-save-all]").addEventListener("click", () => all.save("delivered"));
  document.querySelectorAll(".panel").forEach((section) => {
    const element = section.querySelector(".plot"), flow = flows[Number(element.dataset.flow)];
    const view = new Panel(element, flow);
    listEvents(section, flow);
    view.press();
    section.querySelectorAll("[data-window]").forEach((button) =>
      button.addEventListener("click", () => view.window(button.dataset.window, view.nextRestart())));
    section.querySelector("[data-save]").addEventListener("click", () => view.save(flow.label.replace(/[^\w.+-]+/g, "-")));
  });
  all.press();
  document.querySelectorAll("[data-all]").forEach((button) => button.addEventListener("click", () => {
    const restart = all.nextRestart();
    views.forEach((view) => view.window(button.dataset.all, restart));
    document.querySelectorAll("[data-all=restart]").forEach((one) => all.name(one));
  }));

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
