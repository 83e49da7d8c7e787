/** Requests to the server that served this page. There is no other one. */

/** An answer that is an error, in the words of the program. */
export class Refused extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let open = 0;
let timers = 0;

/** Whether nothing is asked and nothing is about to be. */
export const resting = () => open === 0 && timers === 0;

/** Does something later, unless something else takes its place. @returns {(ms: number, job: () => void) => void} */
export function delayed() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return (ms, job) => {
    if (timer !== undefined) clearTimeout(timer);
    else timers += 1;
    timer = setTimeout(() => {
      timer = undefined;
      timers -= 1;
      job();
    }, ms);
  };
}

/** How long an answer may take before the page says that it waits. */
const PATIENCE = 5000;
/** @type {{ show: (is: boolean) => void }} Who tells the user that the page waits. */
export const waiting = { show: () => undefined };
let late = 0;

/** @template T @param {Promise<T>} answer @returns {Promise<T>} */
async function watched(answer) {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    late += 1;
    waiting.show(true);
  }, PATIENCE);
  open += 1;
  try {
    return await answer;
  } finally {
    open -= 1;
    clearTimeout(timer);
    if (isLate) late -= 1;
    if (late === 0) waiting.show(false);
  }
}

/**
 * @param {string} method @param {string} path @param {unknown} [body]
 * @returns {Promise<Response>}
 */
async function ask(method, path, body) {
  /** @type {RequestInit} */
  const init = { method, credentials: "same-origin" };
  if (body !== undefined) {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new Refused(0, "gone", "The server does not answer. Was linsep lab ended? Start it again and open the new address.");
  }
  if (response.ok) return response;
  let error = { code: String(response.status), message: response.statusText };
  try {
    error = (await response.json()).error;
  } catch {
    // The status says enough.
  }
  throw new Refused(response.status, error.code, error.message);
}

/** @param {string} path */
export function get(path) {
  return watched(ask("GET", path).then((answer) => answer.json()));
}

/** @param {string} path */
export function getText(path) {
  return watched(ask("GET", path).then((answer) => answer.text()));
}

/** @param {string} path @param {unknown} body */
export function post(path, body) {
  return watched(ask("POST", path, body).then((answer) => answer.json()));
}

/** @param {string} path */
export function remove(path) {
  return watched(ask("DELETE", path).then((answer) => answer.json()));
}
