// Requests to REST and to the console's logins. Each carries the session's token.

let csrf = "none yet";
let ended = () => {};

// onEnd names what to do when the session has ended.
export function onEnd(f) {
  ended = f;
}

export class Refused extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

async function send(method, path, body, signal) {
  const options = { method, headers: { "X-KS-CSRF": csrf }, credentials: "same-origin", cache: "no-store", signal };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  let data = {};
  try {
    data = await answer.json();
  } catch {
    if (answer.ok) throw new Refused(answer.status, "the answer is no JSON");
  }
  if (answer.ok) return data;
  if (answer.status === 401 && path.startsWith("/api/")) ended();
  throw new Refused(answer.status, data.error?.reason || answer.statusText);
}

// rows gives the rows of a resource of /api/v2.
export async function rows(resource, parameters, signal) {
  const query = parameters ? "?" + new URLSearchParams(parameters) : "";
  return (await send("GET", "/api/v2/" + resource + query, undefined, signal)).rows;
}

// act posts to a call of /api/v2.
export const act = (path, body) => send("POST", "/api/v2/" + path, body || {});

async function entered(request) {
  const who = await request;
  csrf = who.csrf;
  return { name: who.name, rights: who.rights };
}

export const session = () => entered(send("GET", "/console/session"));
export const login = (credentials) => entered(send("POST", "/console/login", credentials));
export const logout = () => send("POST", "/console/logout");
