// The criterion that is looked at: marked, opened, and moved by keys and by the focus. It follows the focus of a press
// only after the click: a criterion that closes earlier would move the pressed button away from under the pointer.
import { crits, word } from "./decision-verdicts.js";

let current = null;
let pressed = false;

export const seen = () => current;

export function look(crit, focus = true) {
  if (!crit) return;
  for (const each of crits()) each.removeAttribute("aria-current");
  crit.setAttribute("aria-current", "step");
  current = crit;
  if (!focus) return;
  crit.scrollIntoView({ block: "nearest" });
  (crit.querySelector("input[type=radio]:checked") ?? crit.querySelector("input[type=radio]"))?.focus({ preventScroll: true });
}

export function step(by) {
  const all = crits();
  look(all[Math.min(Math.max((current ? all.indexOf(current) : -1) + by, 0), all.length - 1)]);
}

function follow() {
  const crit = document.activeElement?.closest("[data-crit]");
  if (!pressed && crit && crit !== current) look(crit, false);
}

function released() {
  pressed = false;
  follow();
}

document.addEventListener("focusin", follow);
document.addEventListener("pointerdown", () => { pressed = true; }, true);
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(released), true);
look(crits().find((crit) => word(crit) === "") ?? crits()[0], false);
