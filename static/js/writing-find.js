// Files of the repository that hold what is typed, under the field; and from a finding to its line of the YAML.
import { HEADERS, form } from "./writing-sync.js";

let timer = 0;

async function find(field) {
  const body = new FormData(form);
  const answer = await fetch(field.dataset.find, { method: "POST", body, headers: HEADERS, credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("scope-found");
  document.getElementById("scope-found").replaceWith(document.importNode(fresh, true));
}

form.addEventListener("input", (event) => {
  if (event.target.name !== "find") return;
  clearTimeout(timer);
  timer = setTimeout(find, 200, event.target);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-jump]");
  if (!link) return;
  event.preventDefault();
  document.querySelector("[data-side=yaml]").click();
  const [line, column] = link.dataset.jump.split(":").map(Number);
  const source = document.getElementById("source");
  const lines = source.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  source.focus();
  source.setSelectionRange(start + column - 1, start + (lines[line - 1] ?? "").length);
  source.scrollTop = (line - 4) * parseFloat(getComputedStyle(source).lineHeight);
});
