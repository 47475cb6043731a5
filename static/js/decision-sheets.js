// Sheets. A letter or a button opens one, drawn afresh by the server after the draft is kept; only Ctrl+Enter or
// its own button sends it. The answer is a page: the next one, or this one with what is true now.
import { form, save } from "./decision-draft.js";
import { parse, redraw, refuse, show } from "./decision-answers.js";

const HEADERS = { "HX-Request": "true", "HX-Request-Type": "partial" };

async function open(name) {
  await save();
  const answer = await fetch(form().action.replace(/save$/, `sheet/${name}`), { headers: HEADERS, credentials: "same-origin" }).catch(() => null);
  if (answer?.ok && !answer.redirected) {
    const fresh = parse(await answer.text()).getElementById("sheets");
    if (fresh) document.getElementById("sheets").replaceChildren(...document.importNode(fresh, true).childNodes);
  }
  show(name);
}

async function decide(button) {
  const words = button.firstChild, before = words.textContent;
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
  if ((opener ?? decider).hasAttribute("aria-disabled")) {
    document.dispatchEvent(new CustomEvent("fencepost:say", { detail: document.querySelector("[data-why]").textContent }));
    return;
  }
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

