// One WebSocket a page. It carries hints only; what they are about is fetched over HTTP (live.js).
// Sequences tell what was missed: a hello or a beat that is ahead of this page makes it fetch what is on screen.
// Silence of 45 s turns the dot amber and the page polls every 30 s; a reconnect waits longer each time.
const dot = document.querySelector("[data-live-dot]");
const SILENCE_MS = 45_000;
const POLL_MS = 30_000;
const BEATS_A_TICK = 3;
const seen = new Map(Object.entries(JSON.parse(dot?.dataset.sequences || "{}")));
let heard = performance.now();
let polled = performance.now();
let tries = 0;
let beats = 0;
let paused = false;

function emit(detail) {
  document.dispatchEvent(new CustomEvent("fencepost:hint", { detail: { hints: [], all: false, tick: false, ...detail } }));
}

function show(state) {
  paused = state === "paused";
  dot.dataset.state = state;
  dot.querySelector("[data-live-words]").textContent = paused ? "paused, as of" : "live, as of";
  document.querySelector("[data-live-paused]").hidden = !paused;
}

function stamp(at) {
  const time = dot.querySelector("time");
  time.dateTime = at || new Date().toISOString();
  time.textContent = time.dateTime.slice(11, 19);
}

// Whether any pool is further than this page knows; remembers how far it is.
function missed(sequences) {
  let behind = false;
  for (const [pool, sequence] of Object.entries(sequences)) {
    if (sequence > (seen.get(pool) ?? sequence)) behind = true;
    seen.set(pool, Math.max(sequence, seen.get(pool) ?? 0));
  }
  return behind;
}

function receive(message) {
  heard = performance.now();
  const wasPaused = paused;
  if (dot.dataset.state !== "live") show("live");
  stamp(message.at);
  if (message.type === "hints") {
    missed(message.sequences);
    emit({ hints: message.hints });
  } else if (missed(message.sequences) || wasPaused) {
    emit({ all: true });
  } else if (message.type === "beat" && ++beats % BEATS_A_TICK === 0) {
    emit({ tick: true });
  }
}

function connect() {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  socket.addEventListener("message", (event) => { tries = 0; receive(JSON.parse(event.data)); });
  socket.addEventListener("close", (event) => {
    if (event.code === 4401) return document.dispatchEvent(new Event("fencepost:signed-out"));
    const wait = Math.min(30_000, 500 * 2 ** Math.min(tries++, 6));
    setTimeout(connect, wait / 2 + Math.random() * wait / 2);
  });
}

function watch() {
  const now = performance.now();
  if (!paused && now - heard > SILENCE_MS) show("paused");
  if (paused && !document.hidden && now - polled > POLL_MS) { polled = now; emit({ all: true }); }
}

if (dot) {
  connect();
  setInterval(watch, 5000);
  document.addEventListener("fencepost:polled", () => paused && stamp());
}
