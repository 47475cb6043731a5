// Keys of the decision page: hidden buttons with data-does, so that the ? dialog lists them. They judge in the
// draft and move the eye; none of them sends anything, and none works behind an open sheet.
import { look, seen, step } from "./decision-eye.js";
import { crits, give, word } from "./decision-verdicts.js";

const undo = [];

function judge(value) {
  const crit = seen();
  if (!crit) return look(crits()[0]);
  undo.push([crit, word(crit)]);
  give(crit, value);
  if (value === "met") step(1); else crit.querySelector("textarea")?.focus();
}

function back() {
  const [crit, before] = undo.pop() ?? [];
  if (crit) { give(crit, before); look(crit); }
}

// The next or previous of some places in the document, from what is at the top of the window.
function jump(selector, by) {
  const places = [...document.querySelectorAll(selector)].filter((el) => el.offsetParent !== null);
  const line = innerHeight / 3;
  const ahead = places.filter((el) => (by > 0 ? el.getBoundingClientRect().top > line + 4 : el.getBoundingClientRect().top < line - 4));
  const place = by > 0 ? ahead[0] : ahead.at(-1);
  if (place) scrollBy({ top: place.getBoundingClientRect().top - line });
}

// The file in view that is not viewed yet, else the next one, else the first: a press never takes a mark back.
function viewed() {
  const line = innerHeight / 3;
  const files = [...document.querySelectorAll("[data-file]")].filter((el) => el.offsetParent !== null);
  const left = () => files.filter((el) => el.querySelector("[data-viewed] button:not([aria-pressed=true], [aria-busy])"));
  const next = (below) => left().find((el) => el.getBoundingClientRect().bottom > below) ?? left()[0];
  const here = next(line);
  here?.querySelector("[data-viewed] button").click();
  next(here?.getBoundingClientRect().bottom)?.scrollIntoView({ block: "start" });
}

function comment() {
  document.querySelector("[data-tab-link=talk]")?.click();
  document.getElementById("say-it")?.focus();
}

const DOES = {
  met: () => judge("met"), "not-met": () => judge("not-met"), "cannot-tell": () => judge("cannot-tell"), undo: back, comment,
  next: () => step(1), previous: () => step(-1), viewed,
  hunk: () => jump(".hunk", 1), "hunk-back": () => jump(".hunk", -1), file: () => jump("[data-file]", 1), "file-back": () => jump("[data-file]", -1),
  view: () => document.querySelector("#diff [data-view]:not([aria-current])")?.click(),
};

document.addEventListener("click", (event) => {
  const does = event.target.closest("[data-does]")?.dataset.does;
  if (!does || document.querySelector("dialog[open]")) return;
  if (document.querySelector(".verdict:disabled") && /met|tell|undo/.test(does)) return;
  DOES[does]();
});
