/** What the server says, and what the page keeps. Checked by tsc, never served. */
export interface Parameter { name: string; value: string; default: string; words: string[]; help: string }
export interface Learner { name: string; summary: string; kind: string; traces: boolean; parameters: Parameter[] }
export interface BundledSet { name: string; title: string; sliders: string[] }
export interface OwnSet {
  id: string; name: string; rows: number; features: number; classes: string[]; positive?: string | null;
  opening: { learner: string; settings: Record<string, string>; seed: number; model?: boolean } | null;
}
export interface Preset { name: string; title: string; text: string; learner: string; settings: [string, string][]; stop: string }
export interface Catalogue {
  version: string;
  sets: { bundled: BundledSet[]; own: OwnSet | null };
  learners: Learner[];
  criteria: { name: string; meaning: string }[];
  boxes: Preset[];
  lessons: string[];
  limits: { frames: number; points: number; rows: number; updates: number };
}
export type DataSpec =
  | { kind: "bundled"; name: string; rows?: number; margin?: number; noise?: number; classes?: number; seed?: number }
  | { kind: "points"; points: [number, number, string][] }
  | { kind: "file"; id: string };
export interface Spec {
  data: DataSpec; learner: string; settings: Record<string, string>; seed: number;
  start?: number[][]; basis?: string; epochs?: number; choose?: boolean;
}
export interface Line {
  k: number; epoch: number; row?: number; line?: number; step: number; rows?: number[]; machine?: number;
  plane?: number; rival?: number;
  margin_before: number | null; margin_after: number | null; angle_before: number | null; angle_after: number | null;
  norm: number | null; mistakes: number; bound_upper: number | null; bound_lower?: number | null;
}
export interface Frame {
  k: number; planes: number[][] | null; broken: number[]; fixed: number[]; line: Line | null; band: number | null;
  wrong: Uint8Array; pending?: boolean;
}
export interface EpochNote { epoch: number; k: number; mistakes: number | null; objective: number | null; gap: number | null; ceiling: number | null }
export interface Summary {
  last: number; visits: number; epochs: number; ended: string | null; full: string | null; traced: boolean;
  bound: { r2: number; gamma: { lower: number; upper: number } | null; bound: number | null } | null;
  perEpoch: EpochNote[]; shortfall: string | null;
}
export interface DataInfo {
  name: string; rows: number; features: number; expanded: number; names: string[]; classes: string[];
  shown: number[]; lines: (number | null)[]; class: number[]; points: [number, number][] | null;
  cube: number[][] | null; sampled: boolean; rule: string; csv: boolean;
}
export interface RunInfo { id: string; data: DataInfo; summary: Summary; spec: Spec }
/** The other run of a race, on the same rows. */
export interface Rival { id: string; spec: Spec; data: DataInfo; summary: Summary; frames: Map<number, Frame>; state: StateInfo | null }
/** Two features lifted by basis functions. */
export interface Lift { functions: number; plane: [number, number, number, number]; heights: number[]; sheet: number[]; cells: number; x: [number, number]; y: [number, number] }
export interface ViewInfo { kind: string; points: [number, number][]; variance: number | null; boundary: number | null; columns: [number, number] | null; section?: { row: number; lines: [number, number, number][]; apart: (number | null)[] } }
/** Rows beyond the sample that are drawn all the same: wrong ones and those of the verdict. */
export interface Also { rows: { row: number; class: number; at: [number, number]; wrong: boolean; notable: boolean }[]; left: number }
export interface StateInfo {
  k: number; planes: number[][] | null; model: number[][] | null; errors: number; wrong: number[];
  margins: (number | null)[]; band: number | null; view: ViewInfo | null; also?: Also | null;
}
export interface HalfPlane { i: number; row: number; z: number[] }
export interface WeightSpace {
  mode: "two" | "three" | "none"; reason?: string; bias?: boolean; axes: string[]; empty?: boolean; exact?: boolean;
  cone?: { rays: [number, number][]; names: string[] } | null; lines: HalfPlane[]; edges?: number[][] | null;
  chart?: { centre: number[]; e1: number[]; e2: number[]; reach: [number, number]; polygon: [number, number][] | null };
}
export interface Interval { lower: number | null; upper: number | null }
export interface VerdictInfo {
  verdict: string; classes: number; witness: { row: number; line: number | null; weight: string; class: number }[];
  limit?: string | null; gamma?: Interval; distance?: Interval; support?: { row: number; line: number | null }[];
  radius?: Interval; bound?: number; most?: string; alpha?: Interval;
  common?: { text: string[]; at: (number | null)[] }; rests?: { class: string; verdict: string }[];
}
export interface Surface {
  criterion: string; meaning: string; convex: boolean; minimum: string; x: [number, number]; y: [number, number];
  cells: number; bias: number | null; atZero: number | null; values: (number | null)[];
}
