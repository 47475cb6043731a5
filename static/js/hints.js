// What a hint concerns is fetched again over HTTP, where rights are checked, and handed to live.js. A first change is
// fetched at once; while changes go on, each fetch waits longer; a hidden page waits until it is seen.
const SOON_MS = 150;
const LONGEST_MS = 15_000;
const etags = new Map();
const dirty = new Set();
let timer = 0;
let pause = SOON_MS;
let last = 0;

const live = () => [...document.querySelectorAll("[data-live]")];
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(`fencepost:${name}`, { detail }));

function concerns(region, detail) {
  if (detail.all) return true;
  if (detail.tick) return region.hasAttribute("data-live-tick");
  const topics = (region.dataset.liveTopics || "").split(" ");
  return detail.hints.some((hint) => topics.includes(`task:${hint.task}`) || topics.includes(`pool:${hint.pool}`));
}

async function refetch(url) {
  const headers = { "HX-Request": "true", "HX-Request-Type": "partial", "If-None-Match": etags.get(url) || "" };
  const answer = await fetch(url, { headers, credentials: "same-origin", cache: "no-store" }).catch(() => null);
  if (answer?.status === 401) return tell("signed-out");
  if (answer?.status === 304) return tell("polled");
  if (!answer?.ok || answer.redirected) return undefined;
  etags.set(url, answer.headers.get("ETag"));
  tell("fetched", { html: await answer.text(), regions: live().filter((region) => region.dataset.live === url) });
  tell("polled");
  return tell("drawn");
}

function flush() {
  timer = 0;
  if (document.hidden) return;
  dirty.forEach(refetch);
  dirty.clear();
  last = performance.now();
}

function schedule() {
  if (timer || !dirty.size) return;
  const since = performance.now() - last;
  pause = !last || since > 2 * pause ? SOON_MS : Math.min(LONGEST_MS, Math.max(1_000, pause * 2));
  timer = setTimeout(flush, pause === SOON_MS ? SOON_MS : Math.max(SOON_MS, pause - since));
}

document.addEventListener("fencepost:hint", (event) => {
  live().filter((region) => concerns(region, event.detail)).forEach((region) => dirty.add(region.dataset.live));
  schedule();
});
document.addEventListener("visibilitychange", () => document.hidden || schedule());
