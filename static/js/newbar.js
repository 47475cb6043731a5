// What waits to be shown: "3 new · show ." beside the filter. Pressing it draws every held region as it is now.
const waiting = new Map();
const bar = document.querySelector("[data-live-bar]");

function show() {
  if (!bar) return;
  const total = [...waiting.values()].reduce((sum, one) => sum + one.count, 0);
  if (total && bar.hidden) document.dispatchEvent(new CustomEvent("fencepost:say", { detail: `${total} new` }));
  bar.hidden = total === 0;
  bar.querySelector("[data-live-count]").textContent = total;
}

document.addEventListener("fencepost:waiting", (event) => {
  const { region, fresh, count } = event.detail;
  if (count) waiting.set(region.id, { fresh, count }); else waiting.delete(region.id);
  show();
});

bar?.addEventListener("click", (event) => {
  event.preventDefault();
  for (const [id, { fresh }] of waiting) {
    const drawn = document.importNode(fresh, true);
    document.getElementById(id)?.replaceWith(drawn);
    window.htmx?.process(drawn);
  }
  waiting.clear();
  show();
  document.getElementById("main").focus();
  document.dispatchEvent(new Event("fencepost:drawn"));
});
