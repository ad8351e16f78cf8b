// The element that has the focus, as a reader without a mouse finds it: its place among the page's controls, and what is
// wrong with how it shows. A function to be called in the page.
() => {
  const element = document.activeElement, faults = [];
  if (element === document.body) return null;
  const style = getComputedStyle(element);
  if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) faults.push(`outline ${style.outline}`);
  // The middle of what is on the screen of it is not behind something else.
  const box = element.getClientRects()[0];
  const left = Math.max(0, box.left), right = Math.min(innerWidth, box.right);
  const top = Math.max(0, box.top), bottom = Math.min(innerHeight, box.bottom);
  if (right - left < 1 || bottom - top < 1) faults.push("is not on the screen");
  else {
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (hit && !element.contains(hit) && !hit.contains(element)) faults.push(`is hidden by ${hit.outerHTML.slice(0, 60)}`);
  }
  return { at: controls().indexOf(element), what: element.outerHTML.slice(0, 90), faults };
}
