// Leaving. A page that goes away sends what is left and keeps a copy in the tab: the page that follows may be drawn
// before what was on its way, or what was sent since it was asked for, has arrived. That page puts the copy back.
import { form, hurry, keep, last, unsent } from "./decision-draft.js";

const place = () => `draft ${form().action}`;
let leaving = [];

addEventListener("beforeunload", () => { leaving = unsent(); });
addEventListener("pagehide", () => {
  const left = new Set([...leaving, ...unsent()]);
  if (!form() || !left.size) return;
  sessionStorage.setItem(place(), JSON.stringify([...left].map((name) => [name, last(name)])));
  hurry();
});

function restore() {
  const left = JSON.parse(sessionStorage.getItem(place()) ?? "[]");
  sessionStorage.removeItem(place());
  for (const [name, value] of left) {
    for (const field of form().elements) {
      if (field.name === name && field.type === "radio") field.checked = field.value === value;
      else if (field.name === name) field.value = value;
    }
    keep(name, value, 0);
  }
}
if (form()) restore();
