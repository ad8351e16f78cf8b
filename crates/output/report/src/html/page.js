// What the pages have in common: colours, legends, tables that can be sorted, paper. Asks no one for anything.
"use strict";
const page = (() => {
  // A4 less its margins, upright and turned.
  const PAPER_WIDTH = 680, TURNED_WIDTH = 1010;
  const page = { isOnPaper: false };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  /** Gives lines their styles. Of more lines than styles, those that are hidden have none. */
  const placed = (lines) => {
    const isCrowded = lines.some((line) => !line.style);
    lines.forEach((line) => Object.assign(line, isCrowded && !line.isShown ? NO_STYLE : line.style));
  };
  const NO_STYLE = { colour: null, dash: "solid" };

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
   * The names of lines, which show and hide them. Of more lines than styles, what is hidden has no style, and what is shown takes the
   * first that is free.
   */
  function legend(list, lines, draw) {
    const styles = lines.map((line) => line.style).filter((style) => style), isCrowded = styles.length < lines.length;
    const isFree = (style) => !lines.some((line) => line.colour === style.colour && line.dash === style.dash);
    const show = (line, is) => {
      if (line.isShown === is) return;
      line.isShown = is;
      if (isCrowded) Object.assign(line, is ? styles.find(isFree) : NO_STYLE);
    };
    const act = (change) => { change(); tell(); draw(); };
    const buttons = lines.map((line) => {
      const button = list.appendChild(document.createElement("li")).appendChild(document.createElement("button"));
      button.type = "button";
      button.addEventListener("click", () => act(() => show(line, !line.isShown)));
      return button;
    });
    const words = document.createElement("li");
    const tell = () => {
      const shown = lines.filter((line) => line.isShown).length, isFull = isCrowded && shown >= styles.length;
      lines.forEach((line, at) => {
        buttons[at].setAttribute("aria-pressed", String(line.isShown));
        buttons[at].disabled = isFull && !line.isShown;
        buttons[at].replaceChildren(...(line.colour ? [sample(line.colour, line.dash)] : []), line.name);
      });
      words.firstChild.textContent = `${shown} of ${lines.length} lines are shown`
        + (isCrowded ? `; ${styles.length} at most can be distinguished.` : ".")
        + (isFull ? " Press a name to hide its line and make room for another. " : " Press a name to show or hide its line. ");
    };
    words.append("");
    words.className = "note";
    if (lines.length > 4) {
      const none = words.appendChild(document.createElement("button"));
      none.type = "button";
      none.className = "none";
      none.textContent = "Hide all";
      none.addEventListener("click", () => act(() => lines.forEach((line) => show(line, false))));
      list.prepend(words);
    }
    tell();
    /** Shows these lines and no others. */
    return (chosen) => act(() => {
      lines.forEach((line) => { if (!chosen.includes(line)) show(line, false); });
      lines.forEach((line) => { if (chosen.includes(line)) show(line, true); });
    });
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

  // ---- data ------------------------------------------------------------------------------------------------
  /** A line of CSV. */
  const csv = (cells) => cells.map((cell) => /[",\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell).join(",");

  /** Saves text as a file. */
  function download(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  const said = (element) => element.textContent.trim().replace(/\s+/g, " ");
  /** What a table shows, as rows of text; with full precision where cells have a number. */
  const cellsOf = (table, isExact) => [...table.querySelectorAll("tr")].map((row) => [...row.cells].flatMap((cell) => {
    const key = cell.dataset.key, is = isExact && key !== undefined && key !== "" && !Number.isNaN(Number(key)) && cell.tagName === "TD";
    return [is ? key : said(cell), ...Array(cell.colSpan - 1).fill("")];
  }));
  const asCsv = (table) => cellsOf(table, true).map(csv).join("\n") + "\n";
  const asMarkdown = (table) => {
    const line = (cells) => `| ${cells.map((cell) => cell.replace(/\|/g, "\\|")).join(" | ")} |`;
    const [head, ...rows] = cellsOf(table, false).slice(table.tHead.rows.length - 1);
    return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n") + "\n";
  };

  /** Puts text on the clipboard; without permission, by a selection. */
  async function copy(text) {
    try { await navigator.clipboard.writeText(text); } catch {
      const area = document.body.appendChild(document.createElement("textarea"));
      area.value = text;
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  /** Buttons that copy a table. */
  function copyable(scroll) {
    const table = scroll.querySelector("table"), line = document.createElement("p");
    line.className = "copies";
    [["Copy as CSV", asCsv], ["Copy as Markdown", asMarkdown]].forEach(([name, write]) => {
      const button = line.appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", async () => {
        await copy(write(table));
        button.focus();
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = name; }, 1500);
      });
    });
    scroll.after(line);
  }

  document.querySelectorAll("section > .scroll:has(> table.results)").forEach(copyable);

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

  return Object.assign(page, { colour, placed, legend, csv, download, cellsOf, onPaper: (draw) => drawings.push(draw), PAPER_WIDTH });
})();
