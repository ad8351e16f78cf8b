// Draws the distributions of a score from the data in the page, on top of page.js.
(() => {
  const { placed, legend, onPaper, PAPER_WIDTH } = page;
  const data = JSON.parse(document.getElementById("drawing").textContent);
  const schemes = data.schemes.map((one) => ({ ...one }));
  placed(schemes);
  const LEFT = 42, RIGHT = 12, TOP = 8, BOTTOM = 36, HEIGHT = 320;

  /** 1, 2 and 5 times the powers of ten between the ends. */
  function ticks(least, most) {
    const found = [];
    for (let decade = 10 ** Math.floor(Math.log10(least)); decade <= most; decade *= 10) {
      found.push(...[1, 2, 5].map((one) => one * decade).filter((tick) => tick >= least * 0.999 && tick <= most * 1.001));
    }
    return found.map((tick) => Number(tick.toPrecision(3)));
  }

  function draw(element) {
    const of = element.dataset.of, shown = schemes.filter((one) => one.isShown);
    const all = schemes.flatMap((one) => one[of].x);
    const least = all.reduce((p, q) => Math.min(p, q), 1);
    // The axis of cost ends where transfers are given up.
    const most = all.reduce((p, q) => Math.max(p, q), of === "cost" && data.give_up || 2);
    const width = Math.max(260, page.isOnPaper ? PAPER_WIDTH : element.clientWidth);
    const right = width - RIGHT, bottom = HEIGHT - BOTTOM;
    const x = (value) => LEFT + Math.log(value / least) / Math.log(most / least) * (right - LEFT);
    const y = (share) => bottom - share * (bottom - TOP);
    const words = (at, up, text, anchor) => `<text x="${at.toFixed(1)}" y="${up.toFixed(1)}" text-anchor="${anchor}">${text}</text>`;
    const line = (p, q, kind) => `<line class="${kind}" x1="${p[0].toFixed(1)}" y1="${p[1].toFixed(1)}" x2="${q[0].toFixed(1)}" y2="${q[1].toFixed(1)}"/>`;
    const across = ticks(least, most).map((tick) => line([x(tick), TOP], [x(tick), bottom], "grid") + words(x(tick), bottom + 15, tick, "middle"));
    const up = [0, 0.25, 0.5, 0.75, 1].map((share) => line([LEFT, y(share)], [right, y(share)], "grid") + words(LEFT - 5, y(share) + 4, `${share * 100} %`, "end"));
    const steps = shown.map((one) => {
      let at = 0;
      const path = one[of].x.map((value, i) => {
        const corner = `L${x(value).toFixed(1)} ${y(at).toFixed(1)}V${y(one[of].y[i]).toFixed(1)}`;
        at = one[of].y[i];
        return corner;
      });
      return `<path class="step" style="stroke: var(--${one.colour}); stroke-dasharray: ${one.dash === "solid" ? "none" : one.dash}" d="M${LEFT} ${bottom}${path.join("")}H${right}"/>`;
    });
    // And says so, with a line across.
    const end = of === "cost" && data.give_up;
    const given = end ? line([x(end), TOP], [x(end), bottom], "end") : "";
    const label = of !== "cost" ? "times the best of the race"
      : end ? `cost, × ideal; beyond ${end} a transfer is given up` : "cost, × ideal";
    element.innerHTML = `<svg width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}">${across.join("")}${up.join("")}${given}${steps.join("")}`
      + words((LEFT + right) / 2, HEIGHT - 4, label, "middle") + "</svg>";
  }

  /** The heat map, read by pointer or arrow keys. */
  function readable(table, readout) {
    const before = readout.textContent, rows = [...table.tBodies[0].rows];
    let at = null;
    const say = (cell) => {
      at?.classList.remove("read");
      at = cell;
      at?.classList.add("read");
      readout.textContent = at ? at.dataset.says : before;
    };
    table.addEventListener("mousemove", (event) => say(event.target.closest("td")));
    table.addEventListener("mouseleave", () => say(null));
    table.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (event.key === "Escape") say(null);
      if (!step) return;
      event.preventDefault();
      readout.setAttribute("aria-live", "polite");
      const row = at ? rows.indexOf(at.parentElement) + step[0] : 0, column = at ? at.cellIndex + step[1] : 1;
      const next = rows[row]?.cells[column];
      if (next?.tagName === "TD") say(next);
      at?.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  }
  readable(document.querySelector(".heat"), document.getElementById("heat-says"));

  const drawAll = () => document.querySelectorAll(".steps").forEach(draw);
  legend(document.getElementById("legend"), schemes, drawAll);
  drawAll();
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (!page.isOnPaper) drawAll(); }, 120);
  });
  onPaper(drawAll);
})();
