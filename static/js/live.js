// Live regions. <div data-live="/url" id=…> is fetched again when a hint concerns it, and changed without moving
// what is being read: rows (data-row) change in place, gone rows turn grey, new rows wait behind "3 new · show .".
const etags = new Map();
const dirty = new Set();
let timer = 0;

const parse = (html) => new DOMParser().parseFromString(html, "text/html").body;
const keyed = (root, what) => new Map([...root.querySelectorAll(what)].map((el) => [el.id, el]));
const where = (row) => row.closest("[data-rows]")?.id;
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(`fencepost:${name}`, { detail }));

function morph(target, source) {
  const same = target.cloneNode(true);
  same.classList.remove("gone");
  if (same.isEqualNode(source)) return;
  window.htmx.swap({ text: source.outerHTML, target, swap: "outerMorph", sourceElement: document.body });
}

function concerns(region, detail) {
  if (detail.all) return true;
  if (detail.tick) return region.hasAttribute("data-live-tick");
  const topics = (region.dataset.liveTopics || "").split(" ");
  return detail.hints.some((hint) => topics.includes(`task:${hint.task}`) || topics.includes(`pool:${hint.pool}`));
}

// Rows that are in both change in place; answers how many came or went and therefore wait.
function merge(region, fresh) {
  const now = keyed(region, "[data-row]");
  const next = keyed(fresh, "[data-row]");
  const stays = (id) => next.has(id) && now.has(id) && where(now.get(id)) === where(next.get(id));
  for (const [id, row] of now) {
    if (stays(id)) morph(row, next.get(id));
    document.getElementById(id)?.classList.toggle("gone", !stays(id));
  }
  for (const [id, chip] of keyed(fresh, "[data-chip]")) {
    const old = document.getElementById(id);
    if (old) morph(old, chip);
  }
  return [...new Set([...now.keys(), ...next.keys()])].filter((id) => !stays(id)).length;
}

function apply(region, html) {
  const fresh = parse(html).querySelector(`#${CSS.escape(region.id)}`);
  if (!fresh) return;
  if (!region.hasAttribute("data-live-hold")) return morph(region, fresh);
  tell("waiting", { region, fresh, count: merge(region, fresh) });
}

async function refetch(region) {
  const url = region.dataset.live;
  const headers = { "HX-Request": "true", "HX-Request-Type": "partial", "If-None-Match": etags.get(url) || "" };
  const answer = await fetch(url, { headers, credentials: "same-origin", cache: "no-store" }).catch(() => null);
  if (answer?.status === 401) return tell("signed-out");
  if (answer?.status === 304) return tell("polled");
  if (!answer?.ok || answer.redirected) return undefined;
  etags.set(url, answer.headers.get("ETag"));
  apply(region, await answer.text());
  tell("polled");
  return tell("drawn");
}

function flush() {
  timer = 0;
  const regions = [...dirty].filter((region) => region.isConnected);
  dirty.clear();
  regions.forEach(refetch);
}

document.addEventListener("fencepost:hint", (event) => {
  for (const region of document.querySelectorAll("[data-live]")) if (concerns(region, event.detail)) dirty.add(region);
  timer ||= setTimeout(flush, 150);
});
