// When used. The modules of the pictures, of the files, of places and of the sheets come with the first press that is
// for them, and that press is pressed again once they are there; without them the page works as without script.
const USES = [
  ["[data-tab-link=shots], #shots .seg a, [data-shows]", () => import("./decision-shots.js")],
  ["[data-viewed] button, [data-find-file]", () => import("./decision-files.js")],
  ["[data-pin], .file .ln a, .term [aria-label], [data-next-note]", () => import("./decision-places.js"), "#composer"],
  ["[data-sheet], [data-decides], [data-closes-sheet]", () => import("./decision-sheets.js")],
];
const here = new Set();

async function fetched(use, load) {
  await load().catch(() => null);
  here.add(use);
}

document.addEventListener("click", async (event) => {
  const [use, load] = USES.find(([selector]) => !here.has(selector) && event.target.closest(selector)) ?? [];
  if (!use || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const pressed = event.target.closest(use);
  pressed.setAttribute("aria-busy", "true");
  await fetched(use, load);
  pressed.removeAttribute("aria-busy");
  pressed.click();
}, true);

// What is about to be used: a field that is typed in, a picture that is pointed at, a sheet that was drawn open.
function soon(event) {
  for (const [use, load, near] of USES) {
    if (!here.has(use) && event.target.closest?.(near ? `${use}, ${near}` : use)) fetched(use, load);
  }
}
document.addEventListener("focusin", soon);
document.addEventListener("pointerover", soon);
if (document.querySelector("dialog.sheet[open]")) fetched(...USES.at(-1));
