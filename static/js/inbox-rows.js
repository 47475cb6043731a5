// Rows of the inbox. o opens a preview beside the list, s and m open a sheet for the row that has the focus; each
// is a link of the row, and a page of its own where no script runs. The pane follows the focus from row to row.
const HEADERS = { "HX-Request": "true", "HX-Request-Type": "partial" };
const sheet = () => document.getElementById("row-sheet");
const pane = () => document.getElementById("pane");
let current = null;

async function part(href, id) {
  const answer = await fetch(href, { headers: HEADERS, credentials: "same-origin" }).catch(() => null);
  if (answer?.status === 401) return document.dispatchEvent(new Event("fencepost:signed-out"));
  const found = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
  return found ? document.importNode(found, true) : location.assign(href);
}

function told(place) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
  for (const field of place.querySelectorAll("[data-zone]")) field.value = zone;
  for (const words of place.querySelectorAll("[data-zone-words]")) words.textContent = zone || "UTC";
  document.dispatchEvent(new Event("fencepost:drawn"));
}

async function ask(href) {
  const body = await part(`${href}?next=${encodeURIComponent(location.pathname + location.search)}`, "sheet");
  if (!(body instanceof Node)) return;
  sheet().replaceChildren(body);
  told(sheet());
  sheet().showModal();
  (sheet().querySelector("select") ?? sheet().querySelector("h2"))?.focus();
}

function close() {
  pane().hidden = true;
  pane().replaceChildren();
  pane().parentElement.classList.remove("open");
  document.dispatchEvent(new Event("fencepost:drawn"));
}

async function preview(link) {
  const body = await part(link.href, "pane-body");
  if (!(body instanceof Node)) return;
  pane().hidden = false;
  pane().dataset.shows = link.href;
  pane().parentElement.classList.add("open");
  pane().replaceChildren(body);
  told(pane());
  document.dispatchEvent(new CustomEvent("fencepost:say", { detail: pane().querySelector("h2").textContent }));
}

function act(link, isKey) {
  if (link.dataset.acts !== "preview") return ask(link.href);
  if (isKey && !pane().hidden && pane().dataset.shows === link.href) return close();
  return preview(link);
}

document.addEventListener("focusin", (event) => {
  const row = event.target.closest("[data-row]");
  if (!row) return;
  const link = row !== current && row.querySelector("[data-acts=preview]");
  current = row;
  if (link && pane() && !pane().hidden) preview(link);
});
document.addEventListener("click", (event) => {
  const key = event.target.closest("[data-row-key]")?.dataset.rowKey;
  const row = current?.isConnected ? current : document.querySelector("[data-row]:has([data-acts])");
  const link = key ? row?.querySelector(`[data-acts=${key}]`) : event.target.closest("[data-acts]");
  if (!link || !sheet() || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  act(link, Boolean(key));
});
document.addEventListener("click", (event) => {
  const closer = event.target.closest("a[data-closes]");
  if (closer?.closest("dialog")) event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && pane() && !pane().hidden && !document.querySelector("dialog[open]")) close();
});
// After the window has scrolled to the row that was acted on, which takes the focus away.
addEventListener("load", () => setTimeout(() => document.querySelector("[data-row]:target h3 a")?.focus()));
told(document);
