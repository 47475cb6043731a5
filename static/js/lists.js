// Lists. j and k move the focus from row to row (data-row), its first link takes it; Enter is the link's own.
const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
const link = (row) => row.querySelector("a[href], button, summary");

function here(all) {
  const focused = document.activeElement && document.activeElement.closest("[data-row]");
  return focused ? all.indexOf(focused) : -1;
}

function exempt(event) {
  const field = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog, [contenteditable]");
  return field || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented;
}

document.addEventListener("keydown", (event) => {
  if (document.documentElement.dataset.keys === "off" || exempt(event)) return;
  const step = { j: 1, k: -1 }[event.key.toLowerCase()];
  if (!step || document.body.hasAttribute("data-own-jk")) return;
  const all = rows();
  const at = here(all);
  const next = all[at < 0 && step < 0 ? all.length - 1 : Math.min(Math.max(at + step, 0), all.length - 1)];
  const target = next && link(next);
  if (!target) return;
  event.preventDefault();
  target.focus();
});
