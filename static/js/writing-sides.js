// On a small screen one side is shown: the form or its YAML. Both are sent, whichever is in view.
const both = document.querySelector("[data-seated]");
both.dataset.shows = "form";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-side]");
  if (!button) return;
  both.dataset.shows = button.dataset.side;
  for (const each of document.querySelectorAll("[data-side]")) each.setAttribute("aria-pressed", String(each === button));
});
