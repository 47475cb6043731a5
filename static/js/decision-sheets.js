// Sheets. A letter or a button opens one, drawn afresh by the server after the draft is kept; only Ctrl+Enter or
// its own button sends it. The answer is a page: the next one, or this one with what is true now.
import { form, save } from "./decision-draft.js";
import { parse, redraw, refuse, show } from "./decision-answers.js";
import { renew } from "./decision-token.js";

const HEADERS = { "HX-Request": "true", "HX-Request-Type": "partial" };
const WHOLE = { "HX-Request": "true", "HX-Request-Type": "full" };
const LOST = "No answer came, or none that says what happened. Nothing you typed is lost; try again, it will not happen twice.";

async function open(name) {
  // A sheet drawn from less than what was typed would take the place of the words that are missing there.
  const answer = (await save()) && await fetch(form().action.replace(/save$/, `sheet/${name}`), { headers: HEADERS, credentials: "same-origin" }).catch(() => null);
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
  const answer = await fetch(button.formAction, { method: "POST", body, headers: WHOLE, credentials: "same-origin" }).catch(() => null);
  if (answer?.redirected) return location.assign(answer.url);
  const html = answer && answer.status < 500 && answer.status !== 429 ? await answer.text() : "";
  if (parse(html).querySelector("[data-draft], [data-draft-kept]")) return redraw(html);
  button.removeAttribute("aria-disabled");
  words.textContent = before;
  if (answer?.status === 401) return document.dispatchEvent(new CustomEvent("fencepost:signed-out", { detail: "now" }));
  const isOld = answer?.status === 403 && await renew();
  const said = parse(html).querySelector("h1 ~ .lead")?.textContent;
  return refuse(isOld ? "The form was from before you signed in again, and is new now. Nothing you typed is lost; send it again." : said ? `${said} Nothing you typed is lost.` : LOST, answer?.headers.get("X-Request-Id"));
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

