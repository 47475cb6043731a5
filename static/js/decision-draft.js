// Draft. Every field of the decision's form is kept on the server as it is typed; only what changed is sent,
// so that two tabs never blank each other's words. What could not be sent is tried again, and said.
import { renew } from "./decision-token.js";

export const form = () => document.querySelector("[data-draft]");
const changed = new Map();
const typed = new Map();
let timer = 0;
let flight = Promise.resolve(true);

function tell(words) {
  for (const el of document.querySelectorAll("[data-saved]")) el.textContent = words;
}

async function send() {
  const draft = form();
  if (!draft) return true; // the answer to a decision has taken its place, and kept every word
  const body = new URLSearchParams(changed);
  const sent = new Map(changed);
  body.set("csrfmiddlewaretoken", draft.elements.csrfmiddlewaretoken.value);
  const headers = { "HX-Request": "true", "HX-Request-Type": "partial" };
  const answer = await fetch(draft.action, { method: "POST", body, headers, credentials: "same-origin", keepalive: true }).catch(() => null);
  if (answer && answer.status === 401) document.dispatchEvent(new Event("fencepost:signed-out"));
  if (!answer || !answer.ok) {
    if (answer?.status === 403) await renew();
    tell("not saved yet, trying again");
    timer ||= setTimeout(save, 3000);
    return false;
  }
  for (const [name, value] of sent) if (changed.get(name) === value) changed.delete(name);
  tell(`draft saved ${new Date().toISOString().slice(11, 16)}`);
  return true;
}

// One request at a time, so that an older one never lands on a newer one.
export function save() {
  clearTimeout(timer);
  timer = 0;
  flight = flight.then(() => (changed.size ? send() : true));
  return flight;
}

export function keep(name, value, wait = 400) {
  changed.set(name, value);
  typed.set(name, value);
  clearTimeout(timer);
  timer = setTimeout(save, wait);
}

document.addEventListener("input", ({ target: field }) => {
  if (!field.form || field.form !== form() || !field.name || field.type === "hidden") return;
  keep(field.name, field.value, field.type === "radio" ? 0 : 400);
});

// A button that leads to a page waits for what is on its way: words that came after it would come twice.
document.addEventListener("submit", async (event) => {
  const { target, submitter } = event;
  if (target !== form() || event.defaultPrevented || "settled" in target.dataset) return;
  event.preventDefault();
  await save();
  await new Promise((done) => setTimeout(done)); // until its first event is over
  target.dataset.settled = "";
  target.requestSubmit(submitter);
  delete target.dataset.settled;
});

// What was typed and may not have arrived yet; sent at once, whatever else is on its way.
export const unsent = () => [...changed.keys()];
export const last = (name) => typed.get(name);
export const hurry = () => changed.size && send();
for (const el of document.querySelectorAll("[data-no-script]")) el.hidden = true;
