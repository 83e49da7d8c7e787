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
export async function get(path) {
  return (await ask("GET", path)).json();
}

/** @param {string} path */
export async function getText(path) {
  return (await ask("GET", path)).text();
}

/** @param {string} path @param {unknown} body */
export async function post(path, body) {
  return (await ask("POST", path, body)).json();
}

/** @param {string} path */
export async function remove(path) {
  return (await ask("DELETE", path)).json();
}
