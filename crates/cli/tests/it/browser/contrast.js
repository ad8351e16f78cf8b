// Every piece of text on the page, with the contrast of its colour against what is behind it, after WCAG 2.2's
// definitions of relative luminance and contrast ratio; what has less than is asked of it, 4.5 for text and 3 for symbols
// and lines. A function to be called in the page.
() => {
  const numbers = (colour) => {
    const found = colour.match(/^rgba?\(([\d.]+),\s*([\d.]+),\s*([\d.]+)(?:,\s*([\d.]+))?\)$/);
    if (!found) throw new Error(`a colour that cannot be read: ${colour}`);
    return [Number(found[1]), Number(found[2]), Number(found[3]), found[4] === undefined ? 1 : Number(found[4])];
  };
  const luminance = ([r, g, b]) => {
    const linear = [r, g, b].map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const contrast = (p, q) => {
    const [high, low] = [luminance(p), luminance(q)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  // The nearest background that hides what is behind it; words in a drawn box stand on the box.
  const behind = (element) => {
    const box = element.closest("g.shape-group")?.querySelector("path");
    if (box && getComputedStyle(box).fill !== "none") return numbers(getComputedStyle(box).fill);
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
      if (colour[3] !== 0) throw new Error(`a background that is half there: ${at.outerHTML.slice(0, 80)}`);
    }
    throw new Error("a page without a background");
  };
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && element.getClientRects().length > 0;
  const tested = {}, faint = [];
  const test = (element, colour, least, words) => {
    const ratio = contrast(numbers(colour), behind(element));
    const kind = element.closest("svg") ? "drawn" : element.closest("td, th") ? "cell" : element.closest("#legend, .legend") ? "legend" : "text";
    tested[kind] = (tested[kind] ?? 0) + 1;
    if (ratio < least) faint.push(`${ratio.toFixed(2)} of ${least}: "${words}" in ${element.tagName} .${element.getAttribute("class")}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement, words = node.data.trim();
    if (!words || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(element.tagName) || !isSeen(element)) continue;
    const style = getComputedStyle(element);
    test(element, element.closest("svg") ? style.fill : style.color, /^[●○━╍✕▾▴\s]+$/.test(words) ? 3 : 4.5, words.slice(0, 40));
  }
  for (const line of document.querySelectorAll(".legend line, .scatterlayer .js-line, .steps .step")) {
    if (isSeen(line)) test(line, getComputedStyle(line).stroke, 3, "a line");
  }
  for (const swatch of document.querySelectorAll(".swatch")) {
    const ratio = contrast(numbers(getComputedStyle(swatch).backgroundColor), behind(swatch.parentElement));
    if (ratio < 3) faint.push(`${ratio.toFixed(2)} of 3: a swatch`);
    tested.swatch = (tested.swatch ?? 0) + 1;
  }
  return { tested, faint };
}
