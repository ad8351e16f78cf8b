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
  /** Lines that can be distinguished. */
  const MOST_LINES = COLOURS.length * DASHES.length;
  /** The colour and the dash of a line by its place among those that are shown; none if there is no such place. */
  const styleOf = (place) => place === null ? { colour: null, dash: "solid" }
    : { colour: COLOURS[place % COLOURS.length], dash: DASHES[Math.floor(place / COLOURS.length)] };
  /** Gives lines their places: the first ones have one, as many as can be distinguished. */
  const placed = (lines) => lines.forEach((line, index) => Object.assign(line, { isShown: index < MOST_LINES },
    styleOf(index < MOST_LINES ? index : null)));

  /** A piece of a line, as it is drawn. */
  function sample(colour, dash) {
    const span = document.createElement("span");
    span.innerHTML = '<svg width="28" height="10" aria-hidden="true"><line x1="0" x2="28" y1="5" y2="5" stroke-width="2.4"/></svg>';
    const line = span.querySelector("line");
    line.style.stroke = `var(--${colour})`;
    if (dash !== "solid") line.style.strokeDasharray = dash;
    return span;
  }

  /**
   * The names of lines, which show and hide them. Of more lines than can be distinguished, what is hidden has no style of
   * its own, and what is shown takes the first that is free.
   */
  function legend(list, lines, draw) {
    const isCrowded = lines.length > MOST_LINES;
    const places = Array.from({ length: MOST_LINES }, (_, place) => styleOf(place));
    const isFree = (style) => !lines.some((line) => line.colour === style.colour && line.dash === style.dash);
    const show = (line, is) => {
      line.isShown = is;
      if (isCrowded) Object.assign(line, is ? places.find(isFree) : styleOf(null));
    };
    const buttons = lines.map((line) => {
      const button = list.appendChild(document.createElement("li")).appendChild(document.createElement("button"));
      button.type = "button";
      button.addEventListener("click", () => { show(line, !line.isShown); tell(); draw(); });
      return button;
    });
    const words = document.createElement("li");
    const tell = () => {
      const shown = lines.filter((line) => line.isShown).length, isFull = isCrowded && shown >= MOST_LINES;
      lines.forEach((line, at) => {
        buttons[at].setAttribute("aria-pressed", String(line.isShown));
        buttons[at].disabled = isFull && !line.isShown;
        buttons[at].replaceChildren(...(line.colour ? [sample(line.colour, line.dash)] : []), line.name);
      });
      words.firstChild.textContent = `${shown} of ${lines.length} lines are shown; ${MOST_LINES} at most can be distinguished.`
        + (isFull ? " Press a name to hide its line and make room for another. " : " Press a name to show or hide its line. ");
    };
    words.append("");
    words.className = "note";
    if (isCrowded) {
      const none = words.appendChild(document.createElement("button"));
      none.type = "button";
      none.className = "none";
      none.textContent = "Hide all";
      none.addEventListener("click", () => { lines.forEach((line) => show(line, false)); tell(); draw(); });
      list.prepend(words);
    }
    tell();
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

  /** Says above a table that it goes on to the right, as long as it does. */
  function sayThereIsMore(scroll) {
    const words = document.createElement("p");
    words.className = "more";
    words.setAttribute("aria-hidden", "true");
    words.textContent = "more columns: scroll the table to the right →";
    scroll.before(words);
    const look = () => {
      words.style.visibility = scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1 ? "visible" : "hidden";
      words.style.display = scroll.scrollWidth > scroll.clientWidth + 1 ? "" : "none";
    };
    scroll.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(scroll);
    look();
  }

  document.querySelectorAll(".scroll:has(> table.results, > table.numbers)").forEach(sayThereIsMore);

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

  return Object.assign(page, { colour, placed, legend, onPaper: (draw) => drawings.push(draw), PAPER_WIDTH });
})();
