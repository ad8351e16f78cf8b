// What the pages have in common: colours, legends, tables that can be sorted, paper. Asks no one for anything.
"use strict";
const page = (() => {
  const COLOURS = ["blue", "vermillion", "green", "purple", "orange", "sky", "black", "earth"];
  // Short enough that the line beside a name shows which it is.
  const DASHES = ["solid", "7px,3px", "2px,3px", "9px,3px,2px,3px"];
  // A4 less its margins, upright and turned.
  const PAPER_WIDTH = 680, TURNED_WIDTH = 1010;
  const page = { isOnPaper: false };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  /** The colour and the dash of a line by its place. */
  const styleOf = (index) => ({ colour: COLOURS[index % COLOURS.length], dash: DASHES[Math.floor(index / COLOURS.length) % DASHES.length] });

  /** A piece of a line, as it is drawn. */
  function sample(colour, dash) {
    const span = document.createElement("span");
    span.innerHTML = '<svg width="28" height="10" aria-hidden="true"><line x1="0" x2="28" y1="5" y2="5" stroke-width="2.4"/></svg>';
    const line = span.querySelector("line");
    line.style.stroke = `var(--${colour})`;
    if (dash !== "solid") line.style.strokeDasharray = dash;
    return span;
  }

  /** The names of lines, which show and hide them: what is hidden is in the set. */
  function legend(list, lines, hidden, draw) {
    for (const { name, colour, dash } of lines) {
      const button = list.appendChild(document.createElement("li")).appendChild(document.createElement("button"));
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(sample(colour, dash), name);
      button.addEventListener("click", () => {
        if (!hidden.delete(name)) hidden.add(name);
        button.setAttribute("aria-pressed", String(!hidden.has(name)));
        draw();
      });
    }
  }

  function sortable(table) {
    const body = table.tBodies[0];
    table.querySelectorAll("th button").forEach((button) => button.addEventListener("click", () => {
      const column = Number(button.dataset.column), head = button.closest("th");
      const isDescending = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.key;
      const compare = (p, q) => {
        // What is undefined comes last, whichever way.
        if (key(p) === "" || key(q) === "") return Number(key(p) === "") - Number(key(q) === "");
        const isNumber = !Number.isNaN(Number(key(p))) && !Number.isNaN(Number(key(q)));
        const order = isNumber ? Number(key(p)) - Number(key(q)) : key(p).localeCompare(key(q));
        return isDescending ? -order : order;
      };
      body.append(...[...body.rows].sort(compare));
    }));
  }

  document.querySelectorAll("table.results").forEach(sortable);

  // ---- paper ---------------------------------------------------------------------------------------------
  const drawings = [];
  const paper = (is) => {
    page.isOnPaper = is;
    document.documentElement.classList.toggle("on-paper", is);
    // What cannot be opened on paper is open, or is not there.
    document.querySelectorAll("details.printed").forEach((details) => {
      if (is) { details.dataset.was = String(details.open); details.open = true; } else details.open = details.dataset.was === "true";
    });
    // A table that is wider than the page is turned with it, and made smaller, not cut off.
    const tables = [...document.querySelectorAll("table")].map((table) => ({ table, section: table.closest("details, section"), width: 0 }));
    for (const { table, section } of tables) {
      table.style.zoom = "";
      section.classList.remove("turned");
    }
    for (const one of is ? tables : []) {
      one.table.style.width = "min-content";
      one.width = one.table.offsetWidth;
      one.table.style.width = "";
      if (one.width > PAPER_WIDTH / 0.85) one.section.classList.add("turned");
    }
    for (const { table, section, width } of is ? tables : []) {
      const share = (section.classList.contains("turned") ? TURNED_WIDTH : PAPER_WIDTH) / width;
      if (share < 1) table.style.zoom = String(share);
    }
    // The page's head stays with the first section.
    document.querySelector("header.page").classList.toggle("turned", document.querySelector("main section").classList.contains("turned"));
    drawings.forEach((draw) => draw(is));
  };
  window.addEventListener("beforeprint", () => paper(true));
  window.addEventListener("afterprint", () => paper(false));

  return Object.assign(page, { colour, styleOf, legend, onPaper: (draw) => drawings.push(draw), PAPER_WIDTH });
})();
