// Live regions. <div data-live="/url" id=…> is changed to what hints.js fetched without moving what is being read:
// rows (data-row) change in place, gone rows turn grey, new rows wait behind "3 new · show ." (newbar.js).
const parse = (html) => new DOMParser().parseFromString(html, "text/html").body;
const keyed = (root, what) => new Map([...root.querySelectorAll(what)].map((el) => [el.id, el]));
const where = (row) => row.closest("[data-rows]")?.id;

let coming = null;

// htmx, which changes a region in place; a page with much script of its own has only its address.
function htmx() {
  coming ??= window.htmx ? Promise.resolve() : new Promise((done, fail) => {
    const script = document.createElement("script");
    Object.assign(script, { src: document.body.dataset.htmx, onload: done, onerror: fail });
    document.head.append(script);
  });
  return coming;
}

function morph(target, source) {
  const same = target.cloneNode(true);
  same.classList.remove("gone");
  if (same.isEqualNode(source)) return;
  window.htmx.swap({ text: source.outerHTML, target, swap: "outerMorph", sourceElement: document.body });
}

// Rows that are in both change in place; answers how many came or went and therefore wait.
function merge(region, fresh) {
  const now = keyed(region, "[data-row]");
  const next = keyed(fresh, "[data-row]");
  const stays = (id) => next.has(id) && now.has(id) && where(now.get(id)) === where(next.get(id));
  const kept = new Set([...now.keys()].filter(stays));
  for (const [id, row] of now) {
    if (kept.has(id)) morph(row, next.get(id));
    document.getElementById(id)?.classList.toggle("gone", !kept.has(id));
  }
  for (const [id, chip] of keyed(fresh, "[data-chip]")) {
    const old = document.getElementById(id);
    if (old) morph(old, chip);
  }
  return [...new Set([...now.keys(), ...next.keys()])].filter((id) => !kept.has(id)).length;
}

// A sentence alone (data-live-text) needs no htmx.
const isText = (region) => region.hasAttribute("data-live-text");

function apply(region, html) {
  const fresh = parse(html).querySelector(`#${CSS.escape(region.id)}`);
  if (!fresh) return;
  if (isText(region)) return region.replaceChildren(...fresh.childNodes);
  if (!region.hasAttribute("data-live-hold")) return morph(region, fresh);
  const detail = { region, fresh, count: merge(region, fresh) };
  document.dispatchEvent(new CustomEvent("fencepost:waiting", { detail }));
}

function draw({ regions, html }) {
  regions.forEach((region) => apply(region, html));
}

document.addEventListener("fencepost:fetched", async (event) => {
  if (window.htmx || event.detail.regions.every(isText)) return draw(event.detail);
  await htmx();
  draw(event.detail);
  document.dispatchEvent(new Event("fencepost:drawn"));
});
