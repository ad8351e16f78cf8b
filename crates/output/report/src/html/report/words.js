// Words: in the room there is, and for numbers with their units.

const ruler = document.createElement("canvas").getContext("2d");
const lengthOf = (text, font) => { ruler.font = font; return ruler.measureText(text).width; };
const clip = (text, room, font) => {
  if (lengthOf(text, font) <= room) return text;
  let most = text.length;
  while (most > 1 && lengthOf(text.slice(0, most) + "…", font) > room) most--;
  return text.slice(0, most) + "…";
};
/** The text in lines that fit, none of which ends between a number and its unit. */
const wrap = (text, room, font) => text.split(/(?<!\d) | (?![\p{L}%×])/u).reduce((lines, part) => {
  const last = lines[lines.length - 1];
  if (last !== undefined && lengthOf(`${last} ${part}`, font) <= room) lines[lines.length - 1] = `${last} ${part}`;
  else lines.push(clip(part, room, font));
  return lines;
}, []);

/** The unit that keeps so many bytes short, and its name. */
const byteUnit = (value) => value >= 1e9 ? [1e9, "GB"] : value >= 1e6 ? [1e6, "MB"] : value >= 1e3 ? [1e3, "kB"] : [1, "B"];
const bytes = (value) => {
  if (value === null) return "–";
  const [unit, name] = byteUnit(value);
  return (value / unit).toFixed(unit === 1 ? 0 : 3) + " " + name;
};
const decimals = (value, places, unit) => value === null ? "–" : value.toFixed(places) + " " + unit;
/** A value in words, said to be a guess where it is one. */
const about = ([value, isAGuess], show) => (isAGuess ? "≈ " : "") + show(value);
const packets = (places) => (value) => decimals(value, places, "p");
