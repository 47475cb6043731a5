// Sheets. A letter or a button opens one, drawn afresh by the server after the draft is kept; only Ctrl+Enter or
// its own button sends it. The answer is a page: the next one, or this one with what is true now.
import { form, save } from "./decision-draft.js";

const HEADERS = { "HX-Request": "true", "HX-Request-Type": "partial" };
const parse = (html) => new DOMParser().parseFromString(html, "text/html");
const dialog = (name) => document.getElementById(`sheet-${name}`);

async function open(name) {
  await save();
  const url = form().action.replace(/save$/, `sheet/${name}`);
  const answer = await fetch(url, { headers: HEADERS, credentials: "same-origin" }).catch(() => null);
  if (answer?.ok && !answer.redirected) {
    const fresh = parse(await answer.text()).getElementById("sheets");
    if (fresh) document.getElementById("sheets").replaceChildren(...document.importNode(fresh, true).childNodes);
  }
  show(name);
}

function show(name) {
  for (const each of document.querySelectorAll("[data-sheet-dialog]")) {
    each.close();
    for (const field of each.querySelectorAll("[data-shared]")) field.disabled = each.dataset.sheetDialog !== name;
  }
  dialog(name)?.showModal();
  dialog(name)?.querySelector("h2")?.focus();
}

function refuse(words, id) {
  const toast = document.querySelector("[data-toast]");
  toast.querySelector("[data-toast-words]").textContent = words;
  toast.querySelector("[data-toast-id]").textContent = id ? `request ${id}` : "";
  toast.hidden = false;
  document.querySelector("dialog[open]")?.close();
}

// A refusal is a page too: its words and its fields take the place of these, and the focus goes to what it says.
function redraw(html) {
  const page = parse(html);
  for (const what of ["main", "#foot", "#sheets"]) {
    const fresh = page.querySelector(what);
    if (fresh) document.querySelector(what)?.replaceWith(document.importNode(fresh, true)); else document.querySelector(what)?.remove();
  }
  document.title = page.title;
  document.dispatchEvent(new Event("fencepost:drawn"));
  const sheet = document.querySelector("dialog.sheet[open]");
  if (sheet) show(sheet.dataset.sheetDialog);
  (document.querySelector("[aria-invalid=true]:enabled, main .panel h2[tabindex]") ?? document.querySelector("main")).focus();
}

async function decide(button) {
  const words = button.firstChild;
  const before = words.textContent;
  button.setAttribute("aria-disabled", "true");
  words.textContent = "Saving… ";
  await save();
  const body = new URLSearchParams(new FormData(form(), button));
  const answer = await fetch(button.formAction, { method: "POST", body, credentials: "same-origin" }).catch(() => null);
  if (answer?.redirected) return location.assign(answer.url);
  if (answer && answer.status < 500 && answer.status !== 429) return redraw(await answer.text());
  button.removeAttribute("aria-disabled");
  words.textContent = before;
  refuse("No answer came, or none that says what happened. Nothing you typed is lost; try again, it will not happen twice.", answer?.headers.get("X-Request-Id"));
}

document.addEventListener("click", (event) => {
  const closer = event.target.closest("[data-closes-sheet]");
  const opener = event.target.closest("[data-sheet]");
  const decider = event.target.closest("[data-decides]");
  if (!closer && !opener && !decider) return;
  event.preventDefault();
  if (closer) return closer.closest("dialog").close();
  if ((opener ?? decider).hasAttribute("aria-disabled")) return sayWhy();
  if (opener) open(opener.dataset.sheet); else decide(decider);
});
document.addEventListener("keydown", (event) => {
  const sheet = event.key === "Enter" && (event.ctrlKey || event.metaKey) && document.querySelector("dialog.sheet[open]");
  if (!sheet) return;
  event.preventDefault();
  sheet.querySelector("[data-decides]")?.click();
});
const drawn = document.querySelector("dialog.sheet[open]");
if (drawn) show(drawn.dataset.sheetDialog);

function sayWhy() {
  document.dispatchEvent(new CustomEvent("fencepost:say", { detail: document.querySelector("[data-why]").textContent }));
}
