/** Drawing: elements, scales, axes, marks. Nothing here knows what is drawn. */

const SPACE = "http://www.w3.org/2000/svg";

/**
 * @param {string} name @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} children
 * @returns {SVGElement}
 */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name @param {Record<string, string | number | boolean>} [attributes] @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false) element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
}

/** A number for people. @param {number | null | undefined} x @param {number} [digits] */
export function short(x, digits = 4) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-4) return x.toExponential(2).replace("-", "−").replace("e+", "e");
  return String(Number(x.toPrecision(digits))).replace("-", "−");
}

/** Round numbers between two ends. @param {number} low @param {number} high @param {number} [about] */
export function ticks(low, high, about = 5) {
  const raw = (high - low) / about;
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const found = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) found.push(Math.abs(t) < step * 1e-9 ? 0 : t);
  return found;
}

/** Ends that hold all numbers, with room. @param {number[]} numbers @param {number} [room] @returns {[number, number]} */
export function around(numbers, room = 0.12) {
  let [low, high] = [Infinity, -Infinity];
  for (const x of numbers) {
    if (!Number.isFinite(x)) continue;
    if (x < low) low = x;
    if (x > high) high = x;
  }
  if (low > high) return [-1, 1];
  const more = (high - low) * room || Math.abs(high) * 0.5 || 1;
  return [low - more, high + more];
}

/** The part of a x + b y + c = 0 in a box. @param {number} a @param {number} b @param {number} c @param {Box} box */
export function lineIn(a, b, c, box) {
  const { x0, x1, y0, y1 } = box;
  /** @type {[number, number][]} */
  const ends = [];
  const room = 1e-9 * Math.max(x1 - x0, y1 - y0);
  if (b !== 0) {
    for (const x of [x0, x1]) {
      const y = -(a * x + c) / b;
      if (y >= y0 - room && y <= y1 + room) ends.push([x, y]);
    }
  }
  if (a !== 0) {
    for (const y of [y0, y1]) {
      const x = -(b * y + c) / a;
      if (x >= x0 - room && x <= x1 + room) ends.push([x, y]);
    }
  }
  if (ends.length < 2) return null;
  let best = [ends[0], ends[1]];
  for (const p of ends) {
    for (const q of ends) {
      if (far(p, q) > far(best[0], best[1])) best = [p, q];
    }
  }
  return far(best[0], best[1]) > 0 ? best : null;
}

/** @param {[number, number]} p @param {[number, number]} q */
function far(p, q) {
  return Math.hypot(p[0] - q[0], p[1] - q[1]);
}

/** The part of a polygon where a x + b y + c is not negative. @param {[number, number][]} polygon @param {number} a @param {number} b @param {number} c */
export function cut(polygon, a, b, c) {
  /** @type {[number, number][]} */
  const kept = [];
  const at = (/** @type {[number, number]} */ p) => a * p[0] + b * p[1] + c;
  polygon.forEach((from, i) => {
    const to = polygon[(i + 1) % polygon.length];
    const [s, t] = [at(from), at(to)];
    if (s >= 0) kept.push(from);
    if ((s > 0 && t < 0) || (s < 0 && t > 0)) {
      const share = s / (s - t);
      kept.push([from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]);
    }
  });
  return kept;
}

/** The convex hull, counter-clockwise. @param {[number, number][]} points @returns {[number, number][]} */
export function hull(points) {
  const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  if (sorted.length < 3) return sorted;
  const turn = (/** @type {number[]} */ o, /** @type {number[]} */ p, /** @type {number[]} */ q) =>
    (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
  const half = (/** @type {[number, number][]} */ from) => {
    /** @type {[number, number][]} */
    const chain = [];
    for (const p of from) {
      while (chain.length > 1 && turn(chain[chain.length - 2], chain[chain.length - 1], p) <= 0) chain.pop();
      chain.push(p);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** The outline of the mark of a class: shape and colour both tell. @param {number} cls @param {number} r */
export function mark(cls, r) {
  const at = (/** @type {number[][]} */ points) => `M${points.map(([x, y]) => `${(x * r).toFixed(2)} ${(y * r).toFixed(2)}`).join("L")}Z`;
  switch (cls % 6) {
    case 0:
      return `M${r} 0A${r} ${r} 0 1 1 ${-r} 0A${r} ${r} 0 1 1 ${r} 0Z`;
    case 1:
      return at([[0, -1.25], [1.15, 0.85], [-1.15, 0.85]]);
    case 2:
      return at([[-0.95, -0.95], [0.95, -0.95], [0.95, 0.95], [-0.95, 0.95]]);
    case 3:
      return at([[0, -1.35], [1.1, 0], [0, 1.35], [-1.1, 0]]);
    case 4:
      return at([[0, 1.25], [1.15, -0.85], [-1.15, -0.85]]);
    default:
      return at([[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]]);
  }
}

/** @typedef {{ x0: number, x1: number, y0: number, y1: number }} Box */

/** A frame with axes, in a square or wide picture. */
export class Plot {
  /** @param {HTMLElement} host @param {string} label @param {{ width?: number, height?: number, even?: boolean, label?: string }} [shape] */
  constructor(host, label, shape = {}) {
    this.width = shape.width ?? 460;
    this.height = shape.height ?? 460;
    this.even = shape.even ?? true;
    this.room = { left: 50, right: 12, top: 12, bottom: 42 };
    /** @type {Box} */
    this.box = { x0: -1, x1: 1, y0: -1, y1: 1 };
    this.root = /** @type {SVGSVGElement} */ (svg("svg", { viewBox: `0 0 ${this.width} ${this.height}`, role: "img", "aria-label": label, tabindex: 0 }));
    this.axes = svg("g", { class: "axes", "aria-hidden": "true" });
    /** What the axes were drawn for, so that they are not drawn again in every frame. */
    this.axesOf = "";
    this.body = svg("g", { "aria-hidden": "true" });
    const clip = `clip-${Math.random().toString(36).slice(2)}`;
    const inner = svg("rect", { x: this.room.left, y: this.room.top, width: this.width - this.room.left - this.room.right, height: this.height - this.room.top - this.room.bottom });
    this.root.append(svg("defs", {}, svg("clipPath", { id: clip }, inner)), this.axes, this.body);
    this.body.setAttribute("clip-path", `url(#${clip})`);
    this.top = svg("g", { "aria-hidden": "true" });
    this.root.append(this.top);
    host.append(this.root);
  }

  /** @param {[number, number]} x @param {[number, number]} y */
  domain(x, y) {
    const [w, h] = [this.width - this.room.left - this.room.right, this.height - this.room.top - this.room.bottom];
    if (this.even) {
      const scale = Math.max((x[1] - x[0]) / w, (y[1] - y[0]) / h);
      const [mx, my] = [(x[0] + x[1]) / 2, (y[0] + y[1]) / 2];
      x = [mx - (scale * w) / 2, mx + (scale * w) / 2];
      y = [my - (scale * h) / 2, my + (scale * h) / 2];
    }
    this.box = { x0: x[0], x1: x[1], y0: y[0], y1: y[1] };
  }

  /** @param {number} x */
  px(x) {
    const { x0, x1 } = this.box;
    return this.room.left + ((x - x0) / (x1 - x0)) * (this.width - this.room.left - this.room.right);
  }

  /** @param {number} y */
  py(y) {
    const { y0, y1 } = this.box;
    return this.height - this.room.bottom - ((y - y0) / (y1 - y0)) * (this.height - this.room.top - this.room.bottom);
  }

  /** The place under the pointer. @param {PointerEvent | MouseEvent} event @returns {[number, number]} */
  under(event) {
    const area = this.root.getBoundingClientRect();
    const x = ((event.clientX - area.left) / area.width) * this.width;
    const y = ((event.clientY - area.top) / area.height) * this.height;
    return this.place(x, y);
  }

  /** @param {number} x @param {number} y @returns {[number, number]} */
  place(x, y) {
    const { x0, x1, y0, y1 } = this.box;
    const [w, h] = [this.width - this.room.left - this.room.right, this.height - this.room.top - this.room.bottom];
    return [x0 + ((x - this.room.left) / w) * (x1 - x0), y0 + ((this.height - this.room.bottom - y) / h) * (y1 - y0)];
  }

  /** Takes the axes away. */
  clearAxes() {
    this.axesOf = "";
    this.axes.replaceChildren();
  }

  /** @param {string} xName @param {string} yName */
  drawAxes(xName, yName) {
    const { x0, x1, y0, y1 } = this.box;
    const key = JSON.stringify([this.box, xName, yName]);
    if (key === this.axesOf) return;
    this.axesOf = key;
    const [left, right, top, bottom] = [this.room.left, this.width - this.room.right, this.room.top, this.height - this.room.bottom];
    const parts = [svg("rect", { x: left, y: top, width: right - left, height: bottom - top, class: "frame" })];
    for (const t of ticks(x0, x1)) {
      const x = this.px(t);
      if (x < left - 0.5 || x > right + 0.5) continue;
      parts.push(svg("line", { x1: x, x2: x, y1: bottom, y2: bottom + 4, class: "tick" }));
      parts.push(svg("text", { x, y: bottom + 16, class: "number", "text-anchor": "middle" }, short(t)));
    }
    for (const t of ticks(y0, y1)) {
      const y = this.py(t);
      if (y < top - 0.5 || y > bottom + 0.5) continue;
      parts.push(svg("line", { x1: left - 4, x2: left, y1: y, y2: y, class: "tick" }));
      parts.push(svg("text", { x: left - 7, y: y + 4, class: "number", "text-anchor": "end" }, short(t)));
    }
    const cutName = (/** @type {string} */ name) => (name.length > 44 ? `${name.slice(0, 43)}…` : name);
    parts.push(svg("text", { x: (left + right) / 2, y: this.height - 6, class: "name", "text-anchor": "middle" }, cutName(xName)));
    parts.push(svg("text", { x: 12, y: (top + bottom) / 2, class: "name", "text-anchor": "middle", transform: `rotate(-90 12 ${(top + bottom) / 2})` }, cutName(yName)));
    this.axes.replaceChildren(...parts);
  }

  /** @param {[number, number][]} points */
  path(points, close = false) {
    if (points.length === 0) return "";
    return `M${points.map(([x, y]) => `${this.px(x).toFixed(2)} ${this.py(y).toFixed(2)}`).join("L")}${close ? "Z" : ""}`;
  }

  /** A line a x + b y + c = 0 across the frame. @param {number} a @param {number} b @param {number} c @param {Record<string, string | number>} attributes */
  line(a, b, c, attributes) {
    const ends = lineIn(a, b, c, this.box);
    if (!ends) return null;
    const [[x1, y1], [x2, y2]] = ends;
    return svg("line", { x1: this.px(x1), y1: this.py(y1), x2: this.px(x2), y2: this.py(y2), ...attributes });
  }

  /** An arrow between two places. @param {[number, number]} from @param {[number, number]} to @param {string} cls */
  arrow(from, to, cls) {
    const [x1, y1, x2, y2] = [this.px(from[0]), this.py(from[1]), this.px(to[0]), this.py(to[1])];
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (!(length > 0.5)) return svg("g");
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const head = Math.min(9, length);
    const [bx, by] = [x2 - head * ux, y2 - head * uy];
    const tip = `M${x2} ${y2}L${bx - 4 * uy} ${by + 4 * ux}L${bx + 4 * uy} ${by - 4 * ux}Z`;
    return svg("g", { class: cls }, svg("line", { x1, y1, x2: bx, y2: by }), svg("path", { d: tip, class: "head" }));
  }
}

/** A picture as a text of its own: every style written out, with what a canvas under it shows. @param {SVGSVGElement} root @param {HTMLCanvasElement | null} [canvas] */
export function standalone(root, canvas) {
  const copy = /** @type {SVGSVGElement} */ (root.cloneNode(true));
  const names = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-size", "font-family", "font-weight", "paint-order"];
  const [from, to] = [[root, ...root.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of names) to[i].setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", SPACE);
  const [width, height] = sizeOf(root);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const text = new XMLSerializer().serializeToString(copy);
  if (!canvas || canvas.hidden) return text.replace(/^<svg[^>]*>/, (start) => `${start}${ground(width, height)}`);
  // Written, not drawn: this page loads no picture from an address that holds its own bytes.
  const under = `<image width="${width}" height="${height}" href="${canvas.toDataURL()}"/>`;
  return text.replace(/^<svg[^>]*>/, (start) => `${start}${ground(width, height)}${under}`);
}

/** @param {number} width @param {number} height */
const ground = (width, height) => `<rect width="${width}" height="${height}" fill="${getComputedStyle(document.body).backgroundColor}"/>`;

/** @param {SVGSVGElement} root */
const sizeOf = (root) => (root.getAttribute("viewBox") ?? "0 0 460 460").split(" ").slice(2).map(Number);

/** Hands a file to the browser. @param {string} name @param {Blob} blob */
export function save(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A picture in pixels, two for each unit. @param {SVGSVGElement} root @param {HTMLCanvasElement | null} [under] @returns {Promise<Blob>} */
export async function raster(root, under) {
  const [width, height] = sizeOf(root);
  const lines = standalone(root).replace(ground(width, height), "");
  const address = URL.createObjectURL(new Blob([lines], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = html("canvas", { width: 2 * width, height: 2 * height });
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("no picture");
    pen.fillStyle = getComputedStyle(document.body).backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    if (under && !under.hidden) pen.drawImage(under, 0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, no) => canvas.toBlob((blob) => (blob ? done(blob) : no(new Error("no picture"))), "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}
