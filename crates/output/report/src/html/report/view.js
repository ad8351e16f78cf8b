// A plot with a cursor, a readout and a window of time.

const views = [];

class View {
  constructor(element, start, ends, restarts) {
    this.element = element;
    this.start = start;
    this.ends = ends;
    this.restarts = restarts;
    this.restart = 0;
    this.chosen = data.is_of_rounds && restarts.length ? "restart" : "startup";
    this.range = this.rangeOf(this.chosen);
    this.pressed = undefined;
    this.readout = element.appendChild(document.createElement("div"));
    this.readout.className = "readout";
    this.surface = element.appendChild(document.createElement("div"));
    this.surface.className = "surface";
    this.graph = this.surface.appendChild(document.createElement("div"));
    this.cursor = this.surface.appendChild(document.createElement("div"));
    this.cursor.className = "cursor";
    this.cursor.style.bottom = MARGIN.b + "px";
    this.at = null;
    this.isDrawn = false;
    this.surface.style.minHeight = element.dataset.height + "px";
    this.surface.addEventListener("mousemove", (event) => this.point(event));
    this.surface.addEventListener("mouseleave", () => this.read(null));
    element.addEventListener("keydown", (event) => this.key(event));
    this.read(null);
    views.push(this);
  }

  /** What has the plot and its buttons. */
  frame() { return this.element.closest("section, details.panel"); }

  /** Puts what is shown into the page's address. */
  tellAddress() { setAddress(this.runs(), this.range); }

  /** The margin above the plot. */
  top() { return 10; }
  width() { return page.isOnPaper ? PAPER_WIDTH : Math.max(320, this.element.clientWidth); }
  pixels() { return this.width() - MARGIN.l - MARGIN.r; }
  buckets() { return Math.max(200, Math.round(this.pixels() / 1.5)); }

  /** Whether the reader has opened what the plot is in. */
  isOpen() { return !this.element.closest("details:not([open])"); }

  draw() {
    if (!this.isOpen()) return;
    const { traces, layout } = this.picture(this.range[0], this.range[1]);
    if (this.isDrawn) {
      Plotly.react(this.graph, traces, layout, CONFIG);
    } else {
      this.isDrawn = true;
      Plotly.newPlot(this.graph, traces, layout, CONFIG);
      this.graph.on("plotly_relayout", (change) => this.moved(change));
    }
    this.press();
    this.reserve();
    this.place();
  }

  /** Where much is to be said of what is drawn. */
  wordy() { return [this.range[1]]; }

  /** Room for the words of what is drawn, so that the plot stays where it is when they come and go. */
  reserve() {
    this.readout.style.minHeight = "";
    [...this.wordy(), this.at].forEach((t) => this.say(t));
  }

  /** The words, and their room, which only grows. */
  say(t) {
    this.readout.replaceChildren(...this.words(t));
    const { minHeight } = this.readout.style, height = Math.ceil(this.readout.getBoundingClientRect().height);
    if (height > (parseFloat(minHeight) || 0)) this.readout.style.minHeight = height + "px";
  }

  /** The reader zoomed with the mouse. */
  moved(change) {
    if ("xaxis.range[0]" in change) this.ask([change["xaxis.range[0]"], change["xaxis.range[1]"]]);
    else if (change["xaxis.autorange"]) this.ask([this.start, this.ends[2]]);
  }

  /** Shows a range here, or everywhere where plots zoom together. */
  ask(range) {
    const isTogether = document.getElementById("together").checked;
    (isTogether ? views : [this]).forEach((view) => view.show(range));
    this.tellAddress();
  }

  show([from, to]) {
    const start = Math.max(this.start, Math.min(from, to)), end = Math.min(this.ends[2], Math.max(from, to));
    if (end - start >= 10 * data.tick) this.range = [start, end];
    if (this.isDrawn) this.draw(); else this.press();
  }

  rangeOf(name) {
    return name === "restart" ? this.restarts[this.restart] : [this.start, this.ends[WINDOWS.indexOf(name)]];
  }

  /** Which restart a press of the button shows: the one that was shown last, or, if it is there to be seen, the next. */
  nextRestart() {
    return this.pressed === "restart" ? (this.restart + 1) % this.restarts.length : this.restart;
  }

  /** Shows a window; of the restarts the given one, if there are as many. */
  window(name, restart) {
    if (name === "restart" && restart >= this.restarts.length) return;
    this.chosen = name;
    if (name === "restart") this.restart = restart;
    this.show(this.rangeOf(name));
  }

  /** Of windows that are the same, the one that was asked for is pressed; for all plots, the one that is everywhere. */
  press() {
    const names = [...WINDOWS, ...(this.restarts.length ? ["restart"] : [])];
    const shown = names.filter((name) => this.range.every((end, at) => end === this.rangeOf(name)[at]));
    this.pressed = shown.includes(this.chosen) ? this.chosen : shown[0];
    this.frame().querySelectorAll("[data-window=restart]").forEach((button) => this.name(button));
    this.frame().querySelectorAll("[data-window]").forEach((button) =>
      button.setAttribute("aria-pressed", String(button.dataset.window === this.pressed)));
    document.querySelectorAll("[data-all]").forEach((button) =>
      button.setAttribute("aria-pressed", String(views.every((view) => view.pressed === button.dataset.all))));
  }

  /** The button of the restarts says which of them it shows, and is there if there is one. */
  name(button) {
    const count = this.restarts.length;
    button.hidden = count === 0;
    button.textContent = count > 1 ? `Restart ${this.restart + 1} of ${count}` : "Restart";
  }

  point(event) {
    const left = event.clientX - this.surface.getBoundingClientRect().left - MARGIN.l;
    const share = left / this.pixels();
    this.read(share < 0 || share > 1 ? null : this.range[0] + share * (this.range[1] - this.range[0]));
  }

  read(t) {
    this.at = t;
    this.say(t);
    this.place();
  }

  place() {
    const share = this.at === null ? -1 : (this.at - this.range[0]) / (this.range[1] - this.range[0]);
    this.cursor.style.display = share >= 0 && share <= 1 ? "block" : "none";
    this.cursor.style.top = this.top() + "px";
    this.cursor.style.left = MARGIN.l + share * this.pixels() + "px";
  }

  /** The plot as it is, as a file. */
  save(name) {
    if (!this.isDrawn) this.draw();
    const height = Number(this.element.dataset.height);
    return Plotly.downloadImage(this.graph, { format: "svg", filename: name, width: this.width(), height });
  }

  key(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const [from, to] = this.range, length = to - from;
    const middle = this.at ?? from + length / 2;
    const step = length / (event.shiftKey ? 10 : 100);
    const zoom = (factor) => {
      const start = Math.max(this.start, middle - (middle - from) * factor);
      this.ask([start, Math.min(this.ends[2], start + length * factor)]);
    };
    const move = (t) => { this.readout.setAttribute("aria-live", "polite"); this.read(Math.min(to, Math.max(from, t))); };
    const actions = {
      ArrowLeft: () => move(middle - step), ArrowRight: () => move(middle + step),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => this.ask([this.start, this.ends[2]]),
      Escape: () => this.read(null),
    };
    if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
  }
}

function word(name, value, className) {
  const span = document.createElement("span");
  if (className) span.className = className;
  span.append(name + " ");
  span.appendChild(document.createElement("b")).textContent = value;
  return span;
}

function note(text) {
  const span = document.createElement("span");
  span.textContent = text;
  return span;
}
