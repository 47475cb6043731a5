// Evidence tabs. A link that leads into the evidence shows its tab without a new page; without script it loads one.
const evidence = document.querySelector(".ev");

function show(slug) {
  evidence.dataset.tab = slug;
  for (const link of document.querySelectorAll("[data-tab-link]")) {
    if (link.dataset.tabLink === slug) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  }
}

export function reveal(hash) {
  const place = hash && document.getElementById(hash.slice(1));
  const section = place?.closest(".ev > section");
  if (!section) return false;
  show(section.id);
  for (let el = place; el && el !== section; el = el.parentElement) if (el instanceof HTMLDetailsElement) el.open = true;
  const inner = place.querySelector(":scope > details");
  if (inner) inner.open = true;
  if (place === section) {
    if (section.getBoundingClientRect().top < 0 || innerWidth < 1024) section.scrollIntoView({ block: "start" });
  } else {
    place.scrollIntoView({ block: "center" });
  }
  return true;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-tab-link], [data-into], .tree a, .term a, .ln a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const url = new URL(link.href);
  if (!reveal(url.hash)) return;
  event.preventDefault();
  history.replaceState(null, "", url.hash);
  for (const el of document.querySelectorAll(".cur[id]")) el.classList.remove("cur");
  if (link.matches(".term a, .ln a")) document.getElementById(url.hash.slice(1)).classList.add("cur");
});

addEventListener("hashchange", () => reveal(location.hash));
if (location.hash) reveal(location.hash);
