// Live regions. <div data-live="/url" id=…> is fetched again when a hint concerns it, and changed without moving
// what is being read: rows (data-row) change in place, gone rows turn grey, new rows wait behind "3 new · show .".
const waiting = new Map();
const etags = new Map();
const dirty = new Set();
let timer = 0;

const parse = (html) => new DOMParser().parseFromString(html, "text/html").body;
const bar = () => document.querySelector("[data-live-bar]");
const keyed = (root, what) => new Map([...root.querySelectorAll(what)].map((el) => [el.id, el]));
const where = (row) => row.closest("[data-rows]")?.id;

function morph(target, source) {
  if (target.isEqualNode(source)) return;
  window.htmx.swap({ text: source.outerHTML, target, swap: "outerMorph", sourceElement: document.body });
}

function concerns(region, detail) {
  if (detail.all || !region.dataset.liveTopics) return true;
  const topics = region.dataset.liveTopics.split(" ");
  return detail.hints.some((hint) => topics.includes(`pool:${hint.pool}`) || topics.includes(`task:${hint.task}`));
}

function merge(region, fresh) {
  const now = keyed(region, "[data-row]");
  const next = keyed(fresh, "[data-row]");
  let added = 0;
  for (const [id, row] of next) {
    const old = now.get(id);
    if (old && where(old) === where(row)) morph(old, row); else added += 1;
  }
  for (const [id, row] of now) {
    const there = next.get(id);
    row.classList.toggle("gone", !there || where(there) !== where(row));
  }
  for (const [id, chip] of keyed(fresh, "[data-chip]")) {
    const old = document.getElementById(id);
    if (old) morph(old, chip);
  }
  return added + region.querySelectorAll("[data-row].gone").length;
}

function apply(region, html) {
  const fresh = parse(html).querySelector(`#${CSS.escape(region.id)}`);
  if (!fresh) return;
  if (!region.hasAttribute("data-live-hold")) return morph(region, fresh);
  const count = merge(region, fresh);
  if (count) waiting.set(region.id, fresh); else waiting.delete(region.id);
  const link = bar();
  if (!link) return;
  link.hidden = waiting.size === 0;
  link.querySelector("[data-live-count]").textContent = count;
}

async function refetch(region) {
  const headers = { "HX-Request": "true", "HX-Request-Type": "partial", "If-None-Match": etags.get(region.dataset.live) || "" };
  const answer = await fetch(region.dataset.live, { headers, credentials: "same-origin" }).catch(() => null);
  if (!answer || !answer.ok || answer.redirected) return answer && answer.status === 304 && document.dispatchEvent(new Event("fencepost:polled"));
  etags.set(region.dataset.live, answer.headers.get("ETag"));
  apply(region, await answer.text());
  for (const event of ["fencepost:drawn", "fencepost:polled"]) document.dispatchEvent(new Event(event));
}

function flush() {
  timer = 0;
  const regions = [...dirty];
  dirty.clear();
  regions.filter((region) => region.isConnected).forEach(refetch);
}

document.addEventListener("fencepost:hint", (event) => {
  for (const region of document.querySelectorAll("[data-live]")) if (concerns(region, event.detail)) dirty.add(region);
  timer ||= setTimeout(flush, 150);
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-live-bar]")) return;
  event.preventDefault();
  for (const [id, fresh] of waiting) document.getElementById(id)?.replaceWith(document.importNode(fresh, true));
  waiting.clear();
  bar().hidden = true;
  document.dispatchEvent(new Event("fencepost:drawn"));
});
