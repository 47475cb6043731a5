// Times. <time data-span="since|until" datetime=…> is kept true while the page is open; the words are the server's.
const NBSP = "\u00a0";

function unit(number, name) {
  return `${number}${NBSP}${name}`;
}

export function span(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 60) return unit(s, "s");
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return unit(minutes, "min");
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 && hours < 10 ? `${unit(hours, "h")} ${unit(minutes % 60, "min")}` : unit(hours, "h");
  const days = Math.floor(hours / 24);
  return unit(days, days === 1 ? "day" : "days");
}

// The server's clock decides, not this machine's: the page says when it was drawn.
const drawn = Date.parse(document.documentElement.dataset.drawn);
const started = performance.now();

function now() {
  return (Number.isNaN(drawn) ? Date.now() : drawn + performance.now() - started) / 1000;
}

function tick() {
  for (const time of document.querySelectorAll("time[data-span]")) {
    const at = Date.parse(time.dateTime) / 1000;
    const text = span(time.dataset.span === "until" ? at - now() : now() - at);
    if (time.textContent !== text) time.textContent = text;
  }
}

for (const time of document.querySelectorAll("time[title]")) {
  const local = new Date(time.dateTime).toLocaleString();
  if (!time.title.includes("local")) time.title += `, ${local} local`;
}
setInterval(tick, 10_000);
document.addEventListener("visibilitychange", () => document.hidden || tick());
document.addEventListener("fencepost:drawn", tick);
