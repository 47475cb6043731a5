// Verdicts. The posts, the words beside them and the Accept button follow each press at once; the draft follows.
import { keep } from "./decision-draft.js";

const CODES = { met: "met", "not-met": "not", "cannot-tell": "cant" };
const SAID = { met: "met", "not-met": "not met", "cannot-tell": "cannot tell" };
const WHY = { "not-met": "Why not met", "cannot-tell": "What is missing to tell" };
const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

export const crits = () => [...document.querySelectorAll("[data-crit]")];
export const word = (crit) => crit.querySelector("input[type=radio]:checked")?.value ?? "";

function list(numbers, what) {
  if (!numbers.length) return "";
  const joined = numbers.length === 1 ? numbers[0] : `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
  return `${joined} ${numbers.length === 1 ? "is" : "are"} ${what}`;
}

function paint(crit) {
  const given = word(crit);
  const note = crit.querySelector("[data-note]");
  if (note) {
    note.querySelector("label").textContent = WHY[given] ?? "Note";
    const quiet = note.querySelector("textarea").value ? "" : { "": "open", met: "met" }[given] ?? "";
    if (quiet) note.dataset.quiet = quiet; else delete note.dataset.quiet;
  }
  const kept = crit.querySelector("[data-keep]");
  if (kept) kept.hidden = given !== "";
  document.querySelector(`[data-post="${crit.dataset.crit}"]`)?.setAttribute("data-v", CODES[given] ?? "");
}

function say(total, by) {
  const counts = [["met", "met"], ["not-met", "not met"], ["cannot-tell", "cannot tell"]];
  const words = counts.filter(([key]) => by[key].length).map(([key, name]) => `${by[key].length} ${name}`).join(", ");
  document.querySelector("[data-judged]").textContent = `${total - by[""].length} of ${total} judged`;
  document.querySelector("[data-words]").textContent = words || "nothing judged yet";
  const why = [list(by["not-met"], "not met"), list(by["cannot-tell"], "unclear"), list(by[""], "open")].filter(Boolean).join(", ");
  const whole = total > 1 ? `all ${NUMBERS[total] ?? total} met` : "the criterion met";
  return by.met.length === total ? "" : `Accept needs ${whole}: ${why}.`;
}

export function progress() {
  const by = { met: [], "not-met": [], "cannot-tell": [], "": [] };
  for (const crit of crits()) by[word(crit)].push(crit.dataset.crit);
  const why = say(crits().length, by);
  const [accept, changes] = ["accept", "changes"].map((name) => document.querySelector(`.foot [data-sheet=${name}]`));
  if (!accept || accept.hasAttribute("data-barred")) return;
  document.querySelector("[data-why]").textContent = why;
  if (why) accept.setAttribute("aria-disabled", "true"); else accept.removeAttribute("aria-disabled");
  accept.classList.toggle("primary", !why);
  changes.classList.toggle("primary", Boolean(why));
  const posts = document.querySelector(".posts");
  posts.setAttribute("aria-label", `Criteria ${crits().map((crit) => `${crit.dataset.crit}: ${SAID[word(crit)] ?? "open"}`).join(", ")}`);
}

export function give(crit, value) {
  for (const radio of crit.querySelectorAll("input[type=radio]")) radio.checked = radio.value === value;
  keep(`verdict-${crit.dataset.crit}`, value, 0);
  told(crit);
}

function told(crit) {
  paint(crit);
  progress();
  const left = crits().filter((each) => word(each) === "").length;
  document.dispatchEvent(new CustomEvent("fencepost:say", { detail: `Criterion ${crit.dataset.crit}: ${SAID[word(crit)] ?? "open"}. ${left} left.` }));
}

document.addEventListener("change", (event) => {
  const crit = event.target.type === "radio" && event.target.closest("[data-crit]");
  if (crit) told(crit);
});
document.addEventListener("click", (event) => {
  const kept = event.target.closest("[data-keep] button");
  if (!kept) return;
  event.preventDefault();
  give(kept.closest("[data-crit]"), "met");
});
for (const form of document.querySelectorAll("[data-draft]")) form.dataset.scripted = "";
// What the tab had not sent yet was put back, and the server has not counted it.
if (document.querySelector(".foot [data-sheet]")) { crits().forEach(paint); progress(); }
