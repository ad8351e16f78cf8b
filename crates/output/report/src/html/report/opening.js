// The charts of the first screen: a point is read by pointer or arrow keys, and opens its panel.

/** Puts what is shown into the page's address, which then is a link to it. */
function setAddress(shown, [from, to]) {
  const name = (flow) => encodeURIComponent(flow.names[flow.names.length > 1 ? 1 : 0]).replace(/%2B/g, "+").replace(/%3A/g, ":").replace(/%3D/g, "=");
  const short = (t) => String(Number(t.toPrecision(6)));
  if (!shown.length) return;
  const address = `#scheme=${shown.map(name).join(",")}&t=${short(from)}..${short(to)}`;
  // A page that is shown inside another may not have an address.
  try { history.replaceState(null, "", address); } catch { /* The page works without it. */ }
}

function readable(figure) {
  const points = [...figure.querySelectorAll(".point")], readout = figure.querySelector(".readout"), before = readout.textContent;
  const open = (point) => { if (point && point.dataset.panel !== undefined) openPanel(Number(point.dataset.panel)); };
  let read = null;
  const say = (point) => {
    read?.classList.remove("read");
    read = point;
    read?.classList.add("read");
    readout.textContent = read ? read.dataset.says : before;
  };
  /** The point nearest to the pointer, if one is near. */
  const nearest = (event) => {
    const away = (point) => {
      const box = point.querySelector(".mark").getBoundingClientRect();
      return Math.hypot(box.left + box.width / 2 - event.clientX, box.top + box.height / 2 - event.clientY);
    };
    const best = points.reduce((one, point) => one === null || away(point) < away(one) ? point : one, null);
    return best && away(best) < 30 ? best : null;
  };
  figure.addEventListener("mousemove", (event) => say(nearest(event)));
  figure.addEventListener("mouseleave", () => say(null));
  figure.addEventListener("click", (event) => open(nearest(event)));
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && read) open(read);
    else if (event.key === "Escape") say(null);
    else if (step) {
      const at = points.indexOf(read);
      readout.setAttribute("aria-live", "polite");
      say(points[at < 0 ? 0 : (at + step + points.length) % points.length]);
    } else return;
    event.preventDefault();
  });
}
