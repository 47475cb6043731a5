// One WebSocket a page. It carries hints only; what they are about is fetched over HTTP (live.js).
// Silence of 45 s turns the dot amber and the page polls every 30 s; a reconnect fetches everything on screen.
const dot = document.querySelector("[data-live-dot]");
const SILENCE_MS = 45_000;
const POLL_MS = 30_000;
const seen = new Map();
let heard = performance.now();
let tries = 0;
let paused = false;

function emit(hints, all = false) {
  document.dispatchEvent(new CustomEvent("fencepost:hint", { detail: { hints, all } }));
}

function show(state) {
  paused = state === "paused";
  dot.dataset.state = state;
  dot.querySelector("[data-live-words]").textContent = paused ? "paused, as of" : "live, as of";
  document.querySelector("[data-live-paused]").hidden = !paused;
}

function stamp(at) {
  const time = dot.querySelector("time");
  const date = at ? new Date(at) : new Date();
  time.dateTime = date.toISOString();
  time.textContent = date.toISOString().slice(11, 19);
}

function newer(hint) {
  if (hint.sequence <= (seen.get(hint.pool) ?? -1)) return false;
  seen.set(hint.pool, hint.sequence);
  return true;
}

function receive(message) {
  heard = performance.now();
  if (paused) { show("live"); emit([], true); }
  stamp(message.at);
  if (message.type === "hints") {
    const fresh = message.hints.filter(newer);
    if (fresh.length) emit(fresh);
  } else if (message.type === "beat") {
    // A beat names the newest sequence of a pool: a number not seen before means that a hint was lost.
    const known = seen.has(message.pool);
    if (newer(message) && known) emit([message], true);
  }
}

function connect() {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  socket.addEventListener("open", () => { if (tries) emit([], true); tries = 0; });
  socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
  socket.addEventListener("close", (event) => {
    if (event.code === 4401) return document.dispatchEvent(new CustomEvent("fencepost:signed-out"));
    tries += 1;
    const wait = Math.min(30_000, 500 * 2 ** Math.min(tries, 6));
    setTimeout(connect, wait / 2 + Math.random() * wait / 2);
  });
}

let polled = performance.now();
function watch() {
  const now = performance.now();
  if (!paused && now - heard > SILENCE_MS) show("paused");
  if (paused && !document.hidden && now - polled > POLL_MS) { polled = now; emit([], true); }
}

if (dot) {
  connect();
  setInterval(watch, 5000);
  document.addEventListener("fencepost:polled", () => paused && stamp());
}
