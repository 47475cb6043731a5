// Keys of the decision page. Letters judge in the draft and move the eye; none of them sends anything.
import { crits, give, word } from "./decision-verdicts.js";

const VERDICTS = { y: "met", n: "not-met", m: "cannot-tell" };
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
  if (!crit) return;
  give(crit, before);
  look(crit);
}

// The next or previous of some places in the document, from what is at the top of the window.
function jump(selector, by) {
  const places = [...document.querySelectorAll(selector)].filter((el) => el.offsetParent !== null);
  const line = innerHeight / 3;
  const ahead = places.filter((el) => (by > 0 ? el.getBoundingClientRect().top > line + 4 : el.getBoundingClientRect().top < line - 4));
  const place = by > 0 ? ahead[0] : ahead.at(-1);
  if (!place) return;
  scrollBy({ top: place.getBoundingClientRect().top - line });
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

const KEYS = {
  j: () => step(1), k: () => step(-1), z: back, v: viewed, i: () => document.querySelector(".strip .seg a")?.focus(),
  "]": () => jump(".hunk", 1), "[": () => jump(".hunk", -1), "}": () => jump("[data-file]", 1), "{": () => jump("[data-file]", -1),
  1: () => shot(390), 2: () => shot(1280),
};

document.addEventListener("keydown", (event) => {
  if (document.documentElement.dataset.keys === "off" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input:not([type=radio], [type=checkbox]), textarea, select, dialog, [popover]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : "";
  const locked = document.querySelector(".verdict:disabled");
  const act = VERDICTS[key] && !event.shiftKey && !locked ? () => judge(VERDICTS[key]) : event.shiftKey && /[a-z]/.test(key) ? null : KEYS[key];
  if (!act || (key === "z" && locked)) return;
  event.preventDefault();
  act();
});

document.addEventListener("focusin", (event) => {
  const crit = event.target.closest("[data-crit]");
  if (crit && crit !== current) look(crit, false);
});
look(crits().find((crit) => word(crit) === "") ?? crits()[0], false);
