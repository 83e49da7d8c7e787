/** Parts of pattern space that are no marks: the painted regions of classes, and the table behind the picture. */
import { byId, html, short } from "./draw.js";
import { hover, store, wrong } from "./state.js";
import { classOf, isUnclear } from "./walk.js";

/** Paints the class of every cell, ambiguous ones hatched. @param {CanvasRenderingContext2D} pen @param {import("./draw.js").Plot} plot @param {string} cells */
export function paintCells(pen, plot, cells) {
  const n = Math.sqrt(cells.length);
  const { left, right, top, bottom } = plot.room;
  const [wide, high] = [plot.width - left - right, plot.height - top - bottom];
  const style = getComputedStyle(document.documentElement);
  const colours = [0, 1, 2, 3, 4, 5].map((c) => style.getPropertyValue(`--class-${c}`).trim());
  // One pixel for each cell, enlarged without smoothing: no seams between cells.
  const [plain, hatched] = [0, 1].map(() => html("canvas", { width: n, height: n }));
  const [fill, cover] = [plain.getContext("2d"), hatched.getContext("2d")];
  if (!fill || !cover) return;
  for (let at = 0; at < cells.length; at++) {
    const [i, j] = [at % n, n - 1 - Math.floor(at / n)];
    fill.fillStyle = colours[classOf(cells[at]) % 6];
    fill.globalAlpha = isUnclear(cells[at]) ? 0.1 : 0.2;
    fill.fillRect(i, j, 1, 1);
    if (isUnclear(cells[at])) cover.fillRect(i, j, 1, 1);
  }
  pen.imageSmoothingEnabled = false;
  pen.drawImage(plain, left, top, wide, high);
  // Strokes over everything, kept where cells are ambiguous.
  const strokes = html("canvas", { width: 920, height: 920 });
  const brush = strokes.getContext("2d");
  if (!brush) return;
  brush.scale(2, 2);
  brush.imageSmoothingEnabled = false;
  brush.drawImage(hatched, left, top, wide, high);
  brush.globalCompositeOperation = "source-in";
  brush.fillStyle = brush.createPattern(hatch(style.getPropertyValue("--ink").trim()), "repeat") ?? "transparent";
  brush.fillRect(0, 0, 460, 460);
  pen.globalAlpha = 0.55;
  pen.drawImage(strokes, 0, 0, 460, 460);
  pen.globalAlpha = 1;
}

/** A tile of slanted strokes. @param {string} colour */
function hatch(colour) {
  const tile = html("canvas", { width: 9, height: 9 });
  const pen = tile.getContext("2d");
  if (pen) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.1;
    for (const shift of [-9, 0, 9]) {
      pen.beginPath();
      pen.moveTo(shift - 1, 10);
      pen.lineTo(shift + 10, -1);
      pen.stroke();
    }
  }
  return tile;
}

/** The points as a table, if it is open. */
export function drawTable() {
  const details = /** @type {HTMLDetailsElement} */ (byId("pattern-table"));
  if (!details.open) return;
  const data = store.run?.data;
  if (!data) return;
  const bad = wrong();
  const body = html("tbody");
  data.shown.slice(0, 200).forEach((row, i) => {
    const p = data.points?.[i] ?? store.state?.view?.points[i];
    const choice = html("button", { type: "button", class: "small" }, "select");
    choice.addEventListener("click", () => hover(i));
    body.append(
      html("tr", {},
        html("td", {}, String(row + 1)), html("td", {}, data.classes[data.class[i]]),
        html("td", {}, p ? `${short(p[0])}, ${short(p[1])}` : ""),
        html("td", {}, short(store.state?.margins[i])), html("td", {}, bad[i] ? "wrong" : "right"), html("td", {}, choice)),
    );
  });
  const table = byId("pattern-rows");
  table.replaceChildren(html("thead", {}, html("tr", {}, ...["row", "class", "place", "margin", "side", ""].map((t) => html("th", { scope: "col" }, t)))), body);
}
