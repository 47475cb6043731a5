// Keys of the decision page: hidden buttons with data-does, so that the ? dialog lists them. They judge in the
// draft and move the eye; none of them sends anything, and none works behind an open sheet.
import { crits, give, word } from "./decision-verdicts.js";

const undo = [];
let current = null;

function look(crit, focus = true) {
  if (!crit) return;
  for (const each of crits()) each.removeAttribute("aria-current");
  crit.setAttribute("aria-current", "step");
  current = crit;
  if (!focus) return;
  crit.scrollIntoView({ block: "nearest" });
  (crit.querySelector("input[type=radio]:checked") ?? crit.querySelector("input[type=radio]"))?.focus({ preventScroll: true });
}

function step(by) {
  const all = crits();
  look(all[Math.min(Math.max((current ? all.indexOf(current) : -1) + by, 0), all.length - 1)]);
}

function judge(value) {
  if (!current) return look(crits()[0]);
  undo.push([current, word(current)]);
  give(current, value);
  if (value === "met") step(1); else current.querySelector("textarea")?.focus();
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

function shot(width) {
  document.querySelector("[data-tab-link=shots]")?.click();
  document.querySelector(`[data-width="${width}"]`)?.scrollIntoView({ block: "nearest" });
}

function viewed() {
  const line = innerHeight / 3;
  const files = [...document.querySelectorAll("[data-file]")].filter((el) => el.offsetParent !== null);
  const here = files.find((el) => el.getBoundingClientRect().bottom > line) ?? files.at(-1);
  here?.querySelector("[data-viewed] button")?.click();
  files.slice(files.indexOf(here) + 1).find((el) => !el.querySelector("[aria-pressed=true]"))?.scrollIntoView({ block: "start" });
}

function comment() {
  document.querySelector("[data-tab-link=talk]")?.click();
  document.getElementById("say-it")?.focus();
}

const DOES = {
  met: () => judge("met"), "not-met": () => judge("not-met"), "cannot-tell": () => judge("cannot-tell"), undo: back, comment,
  next: () => step(1), previous: () => step(-1), viewed, rounds: () => document.querySelector(".strip .seg a")?.focus(),
  hunk: () => jump(".hunk", 1), "hunk-back": () => jump(".hunk", -1), file: () => jump("[data-file]", 1), "file-back": () => jump("[data-file]", -1),
  narrow: () => shot(390), wide: () => shot(1280),
};

document.addEventListener("click", (event) => {
  const does = event.target.closest("[data-does]")?.dataset.does;
  if (!does || document.querySelector("dialog[open]")) return;
  if (document.querySelector(".verdict:disabled") && /met|tell|undo/.test(does)) return;
  DOES[does]();
});

document.addEventListener("focusin", (event) => {
  const crit = event.target.closest("[data-crit]");
  if (crit && crit !== current) look(crit, false);
});
look(crits().find((crit) => word(crit) === "") ?? crits()[0], false);
