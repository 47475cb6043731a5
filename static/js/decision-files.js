// Files of the diff. Viewed marks, files that load when they are asked for, whole outputs, the list's filter,
// and a line number that brings its line to the comment.
import { keep } from "./decision-draft.js";

const HEADERS = { "HX-Request": "true", "HX-Request-Type": "partial" };
const ask = (url, more = {}) => fetch(url, { headers: HEADERS, credentials: "same-origin", ...more }).catch(() => null);

function swap(target, html, selector) {
  const fresh = new DOMParser().parseFromString(html, "text/html").querySelector(selector);
  if (!fresh) return null;
  const node = document.importNode(fresh, true);
  target.replaceWith(node);
  document.dispatchEvent(new Event("fencepost:drawn"));
  return node;
}

async function load(link, selector, target) {
  target.setAttribute("aria-busy", "true");
  const answer = await ask(link.href);
  target.removeAttribute("aria-busy");
  if (!answer?.ok) return location.assign(link.href);
  const node = swap(target, await answer.text(), selector);
  for (const details of node?.querySelectorAll(":scope > details") ?? []) details.open = true;
}

function mark(form, button) {
  const is = button.value === "yes";
  const file = form.closest("[data-file]");
  button.setAttribute("aria-pressed", String(is));
  button.value = is ? "no" : "yes";
  if (is) file.querySelector("details").open = false;
  const row = document.querySelector(`[data-for="${file.dataset.file}"]`);
  row?.toggleAttribute("data-seen", is);
  const count = document.querySelector("[data-viewed-count]");
  if (count) count.textContent = document.querySelectorAll("[data-viewed] [aria-pressed=true]").length;
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-viewed]");
  if (!form) return;
  event.preventDefault();
  const button = form.querySelector("button");
  const body = new URLSearchParams(new FormData(form, button));
  mark(form, button);
  ask(form.action, { method: "POST", body, keepalive: true }).then((answer) => answer?.ok || mark(form, button));
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-load], [data-unfold]");
  if (link) {
    event.preventDefault();
    const target = link.closest(link.matches("[data-load]") ? "[data-file]" : ".cmd");
    load(link, `#${target.id}`, target);
    return;
  }
  const number = event.target.closest(".file .ln a");
  const row = number?.closest("tr");
  const path = document.getElementById("say-file");
  if (!row || !path || !row.id.includes("-n")) return;
  const line = document.getElementById("say-line");
  path.value = row.closest("[data-file]").dataset.path;
  line.value = number.textContent;
  keep("comment_path", path.value);
  keep("comment_line", line.value);
  document.dispatchEvent(new CustomEvent("fencepost:say", { detail: `Line ${line.value} of ${path.value} is in the comment. Press c to write it.` }));
});

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-find-file]")) return;
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll(".files [data-for]")) row.hidden = !row.querySelector("a").textContent.toLowerCase().includes(wanted);
});

// A file that was left closed because of the page's size loads when it is opened.
document.addEventListener("toggle", (event) => {
  const link = event.target.open && event.target.closest?.("[data-file]")?.querySelector("[data-load]");
  if (link && !link.closest("[aria-busy]")) link.click();
}, true);
