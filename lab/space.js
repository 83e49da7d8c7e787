/** Three dimensions on a flat page: points, planes and arrows seen from an angle that can be turned. */
import { mark, svg } from "./draw.js";

/** @typedef {[number, number, number]} Vec */

/** @param {number[]} a @param {number[]} b */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** A box that can be turned with the pointer or the arrow keys. */
export class Scene {
  /** @param {SVGSVGElement} root @param {number} size */
  constructor(root, size) {
    this.root = root;
    this.size = size;
    this.yaw = 0.6;
    this.pitch = 0.45;
    /** @type {[Vec, Vec]} */
    this.ends = [[-1, -1, -1], [1, 1, 1]];
    /** @type {() => void} */
    this.onTurn = () => undefined;
    this.active = false;
    /** Whether each axis has a scale of its own. */
    this.stretch = false;
    root.addEventListener("pointerdown", (event) => {
      if (!this.active || event.button !== 0) return;
      root.setPointerCapture(event.pointerId);
      let [x, y] = [event.clientX, event.clientY];
      const move = (/** @type {PointerEvent} */ now) => {
        this.turn((now.clientX - x) / 120, (now.clientY - y) / 120);
        [x, y] = [now.clientX, now.clientY];
      };
      root.addEventListener("pointermove", move);
      root.addEventListener("pointerup", () => root.removeEventListener("pointermove", move), { once: true });
    });
    root.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (!this.active || !step) return;
      event.preventDefault();
      this.turn(step[0], step[1]);
    });
  }

  /** @param {number} yaw @param {number} pitch */
  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + pitch));
    this.onTurn();
  }

  /** Where a place is on the page, and how near. @param {number[]} p @returns {Vec} */
  see(p) {
    const [low, high] = this.ends;
    const widest = Math.max(...[0, 1, 2].map((j) => high[j] - low[j]));
    const [x, y, z] = [0, 1, 2].map((j) => ((p[j] - (low[j] + high[j]) / 2) / (this.stretch ? (high[j] - low[j]) * (j === 2 ? 1.35 : 1) : widest)) * this.size * (this.stretch ? 0.56 : 0.47));
    const [c, s] = [Math.cos(this.yaw), Math.sin(this.yaw)];
    const [u, v] = [c * x - s * y, s * x + c * y];
    const [cp, sp] = [Math.cos(this.pitch), Math.sin(this.pitch)];
    return [this.size / 2 + 16 + u, this.size / 2 - 12 - (cp * z + sp * v), cp * v - sp * z];
  }

  /** @param {number[][]} points @param {Record<string, string | number>} attributes */
  polygon(points, attributes) {
    const d = points.map((p) => this.see(p)).map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L");
    return svg("path", { d: points.length ? `M${d}Z` : "", ...attributes });
  }

  /** An open line. @param {number[][]} points @param {Record<string, string | number>} attributes */
  path(points, attributes) {
    const d = points.map((p) => this.see(p)).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
    return svg("path", { d: `M${d}`, fill: "none", ...attributes });
  }

  /** @param {number[]} from @param {number[]} to @param {Record<string, string | number>} attributes */
  segment(from, to, attributes) {
    const [[x1, y1], [x2, y2]] = [this.see(from), this.see(to)];
    return svg("line", { x1, y1, x2, y2, ...attributes });
  }

  /** An arrow. @param {number[]} from @param {number[]} to @param {string} cls */
  arrow(from, to, cls) {
    const [[x1, y1], [x2, y2]] = [this.see(from), this.see(to)];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [bx, by] = [x2 - 9 * ux, y2 - 9 * uy];
    const head = `M${x2} ${y2}L${bx - 4 * uy} ${by + 4 * ux}L${bx + 4 * uy} ${by - 4 * ux}Z`;
    return svg("g", { class: cls }, svg("line", { x1, y1, x2: bx, y2: by }), svg("path", { d: head, class: "head" }));
  }

  /** @param {number[]} p @param {number} cls @param {Record<string, string | number>} [more] */
  point(p, cls, more = {}) {
    const [x, y] = this.see(p);
    return svg("path", { d: mark(cls, 7), transform: `translate(${x} ${y})`, class: `point class-${cls % 6}`, ...more });
  }

  /** The box with the names of its axes. @param {string[]} names */
  frame(names) {
    const [low, high] = this.ends;
    const parts = [];
    for (const axis of [0, 1, 2]) {
      const others = [0, 1, 2].filter((j) => j !== axis);
      for (const [a, b] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
        const from = [...low];
        from[others[0]] = a ? high[others[0]] : low[others[0]];
        from[others[1]] = b ? high[others[1]] : low[others[1]];
        const to = [...from];
        to[axis] = high[axis];
        parts.push(this.segment(from, to, { class: a + b === 0 ? "axis" : "edge" }));
        if (a + b === 0) {
          const [x, y] = this.see(to.map((t, j) => (j === axis ? t + (high[j] - low[j]) * 0.07 : t)));
          parts.push(svg("text", { x, y, class: "name", "text-anchor": "middle" }, names[axis]));
        }
      }
    }
    return svg("g", { class: "box" }, ...parts);
  }

  /** Where the plane n·p + c = 0 cuts the box. @param {number[]} n @param {number} c */
  cut(n, c) {
    const [low, high] = this.ends;
    /** @type {number[][]} */
    const found = [];
    for (const axis of [0, 1, 2]) {
      const others = [0, 1, 2].filter((j) => j !== axis);
      for (const [a, b] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
        if (n[axis] === 0) continue;
        const p = [0, 0, 0];
        p[others[0]] = a ? high[others[0]] : low[others[0]];
        p[others[1]] = b ? high[others[1]] : low[others[1]];
        p[axis] = -(dot(n, p) + c) / n[axis];
        if (p[axis] >= low[axis] - 1e-9 && p[axis] <= high[axis] + 1e-9) found.push(p);
      }
    }
    if (found.length < 3) return [];
    const middle = [0, 1, 2].map((j) => found.reduce((s, p) => s + p[j], 0) / found.length);
    const size = Math.hypot(...n);
    const u = found.map((p) => p.map((x, j) => x - middle[j])).sort((p, q) => Math.hypot(...q) - Math.hypot(...p))[0];
    const v = [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]].map((x) => x / size);
    const angle = (/** @type {number[]} */ p) => {
      const d = p.map((x, j) => x - middle[j]);
      return Math.atan2(dot(d, v), dot(d, u));
    };
    return found.sort((p, q) => angle(p) - angle(q));
  }
}
