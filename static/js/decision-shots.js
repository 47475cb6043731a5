// Screenshots. Their modes, widths and sizes change in place, without a request: links with data-shots, data-only or
// data-zoom do it where a script runs and load the page where none does. The address follows, so a reload shows the
// same. Blinking is by hand: each press shows the other round.
const place = () => document.getElementById("shots");

function paint() {
  const { mode, only, zoom } = place().dataset;
  for (const link of place().querySelectorAll("[data-shots]")) current(link, link.dataset.shots === mode);
  for (const link of place().querySelectorAll(".seg [data-only]")) current(link, mode === "single" && link.dataset.only === only);
  for (const link of place().querySelectorAll("[data-zoom]")) current(link, link.dataset.zoom === zoom);
  for (const box of place().querySelectorAll(".frames")) if (zoom === "fit") box.removeAttribute("tabindex"); else box.tabIndex = 0;
  const url = new URL(location.href);
  for (const [name, value] of Object.entries({ mode, width: only, zoom })) url.searchParams.set(name, value);
  history.replaceState(null, "", url);
}

function current(link, is) {
  if (is) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
}

function say(words) {
  document.dispatchEvent(new CustomEvent("fencepost:say", { detail: words }));
}

function show(mode, only) {
  const shots = place();
  const again = mode === "blink" && shots.dataset.mode === "blink";
  shots.dataset.turn = again && shots.dataset.turn !== "then" ? "then" : "now";
  shots.dataset.mode = mode;
  if (only) shots.dataset.only = only;
  paint();
  if (mode === "blink") say(shots.dataset.turn === "then" ? "The other round is in view." : "This round is in view.");
}

function enlarge(zoom) {
  place().dataset.zoom = zoom;
  paint();
}

// What another mode will show is loaded once the pictures are looked at, so that switching waits for nothing.
function ready() {
  for (const image of place()?.querySelectorAll("img[loading=lazy]") ?? []) image.loading = "eager";
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("#shots .seg a");
  const key = event.target.closest("[data-shows]")?.dataset.shows;
  if ((!link && !key) || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  ready();
  if (key === "390" || key === "1280") show("single", key);
  else if (key) show(key);
  else if (link.dataset.zoom) enlarge(link.dataset.zoom);
  else show(link.dataset.shots ?? "single", link.dataset.only);
  if (key) document.querySelector("[data-tab-link=shots]")?.click(); // last, so that the page is laid out once
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-tab-link=shots], [href$='#shots']")) ready();
});

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-cut]")) return;
  event.target.closest("figure").style.setProperty("--cut", `${event.target.value}%`);
});

// They are fetched before they are asked for, once nothing else is; not where data is to be saved.
if (!navigator.connection?.saveData) addEventListener("load", () => (window.requestIdleCallback ?? setTimeout)(ready));
