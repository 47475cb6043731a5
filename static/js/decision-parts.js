// Parts of the evidence that load where they stand: files that wait, the rest of an output, what is found in one,
// the same diff split or unified. Each is a link or a form of its own where no script runs.
const HEADERS = { "HX-Request": "true", "HX-Request-Type": "partial" };

function swap(target, html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById(target.id);
  if (!fresh) return;
  const node = document.importNode(fresh, true);
  target.replaceWith(node);
  for (const details of node.querySelectorAll(":scope > details")) details.open = true;
  document.dispatchEvent(new Event("fencepost:drawn"));
}

// What was pressed by hand and does not come leads to its page; what loads by itself leaves its link.
async function load(href, target, isByHand) {
  target.setAttribute("aria-busy", "true");
  const answer = await fetch(href, { headers: HEADERS, credentials: "same-origin" }).catch(() => null);
  target.removeAttribute("aria-busy");
  if (answer?.ok) swap(target, await answer.text()); else if (isByHand) location.assign(href);
}

function seenAs(href, view) {
  const url = new URL(href, location.href);
  url.searchParams.set("view", view);
  return url.href;
}

// Unified or split: the files that are open are drawn again, those that wait will be.
function look(chosen) {
  for (const link of document.querySelectorAll("#diff [data-view]")) link.removeAttribute("aria-current");
  chosen.setAttribute("aria-current", "true");
  for (const file of document.querySelectorAll("[data-file]")) {
    for (const link of file.querySelectorAll("[data-load]")) link.href = seenAs(link.href, chosen.dataset.view);
    if (file.querySelector("table")) load(seenAs(file.dataset.address, chosen.dataset.view), file);
  }
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey) return;
  const link = event.target.closest("[data-load], [data-unfold]");
  const chosen = event.target.closest("#diff [data-view]");
  if (!link && !chosen) return;
  event.preventDefault();
  if (chosen) look(chosen); else load(link.href, link.closest(link.matches("[data-load]") ? "[data-file]" : ".cmd"), event.isTrusted);
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-find-line]")) return;
  event.preventDefault();
  load(`${event.target.action.split("#")[0]}?${new URLSearchParams(new FormData(event.target))}`, event.target.closest(".cmd"), true);
});

// A link that was drawn anew meanwhile is gone: pressed there, it would lead away from the page.
function press(link) {
  if (link?.isConnected) link.click();
}

// A file that was left closed because of the page's size loads when it is opened, or when it comes near.
document.addEventListener("toggle", (event) => {
  const file = event.target.open && event.target.closest?.("[data-file]");
  if (file && !file.hasAttribute("aria-busy") && !file.querySelector("table")) press(file.querySelector("[data-load]"));
}, true);

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    press(target.querySelector("[data-near]"));
  }
}, { rootMargin: "600px" });

function watch() {
  for (const link of document.querySelectorAll("[data-near]")) near.observe(link.closest("[data-file]"));
}
document.addEventListener("fencepost:drawn", watch);
watch();
