// Files of the diff: viewed marks, and the list's filter.
const HEADERS = { "HX-Request": "true", "HX-Request-Type": "partial" };

function mark(form, button) {
  const is = button.value === "yes";
  const file = form.closest("[data-file]");
  button.setAttribute("aria-pressed", String(is));
  button.value = is ? "no" : "yes";
  if (is) file.querySelector("details").open = false;
  document.querySelector(`[data-for="${file.dataset.file}"]`)?.toggleAttribute("data-seen", is);
  const count = document.querySelector("[data-viewed-count]");
  if (count) count.textContent = Number(count.textContent) + (is ? 1 : -1);
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-viewed]");
  if (!form) return;
  event.preventDefault();
  const button = form.querySelector("button");
  const body = new URLSearchParams(new FormData(form, button));
  mark(form, button);
  fetch(form.action, { method: "POST", body, headers: HEADERS, credentials: "same-origin", keepalive: true })
    .catch(() => null)
    .then((answer) => answer?.ok || mark(form, button));
});

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-find-file]")) return;
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll(".files [data-for]")) row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
});
