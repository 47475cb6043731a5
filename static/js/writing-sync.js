// Form and YAML are one text. What is typed in either goes to the server, is kept there, and comes back as the other.
// An answer that is older than the last press of a key is not drawn, so that nothing typed is written over.
export const form = document.querySelector("[data-writing]");
export const HEADERS = { "HX-Request": "true", "HX-Request-Type": "partial" };
const parse = (html) => new DOMParser().parseFromString(html, "text/html");
const part = (id) => document.getElementById(id);
let presses = 0;
let sent = 0;
let timer = 0;
let wantsForm = false;
let flight = Promise.resolve();

export const isUnsent = () => presses > sent;
export const isLocked = () => form.querySelector("[data-seated]").disabled;

function tell(words) {
  for (const el of document.querySelectorAll("[data-saved]")) el.textContent = words;
}

// A part as it is now; what was unfolded in it stays unfolded.
function put(id, page) {
  const [old, fresh] = [part(id), page.getElementById(id)];
  if (!old || !fresh) return;
  const unfolded = [...old.querySelectorAll("details")].map((each) => each.open);
  old.replaceWith(document.importNode(fresh, true));
  [...part(id).querySelectorAll("details")].forEach((each, at) => { each.open = unfolded[at] ?? each.open; });
}

function putForm(page) {
  const [at, wanted] = [document.activeElement, page.getElementById("form-side").dataset.focus];
  const place = part("form-side").contains(at) && at.selectionStart;
  put("form-side", page);
  const field = part(wanted || at.id);
  if (field && field !== document.activeElement) field.focus();
  if (!wanted && Number.isInteger(place) && field?.setSelectionRange) field.setSelectionRange(place, place);
}

export function told(html) {
  put("told", parse(html));
  part("told").querySelector("[tabindex]")?.focus();
}

function draw(page) {
  for (const name of ["source", "base"]) {
    const fresh = page.getElementById(name).value;
    if (part(name).value !== fresh) part(name).value = fresh;
  }
  if (wantsForm || !part("form-side").contains(document.activeElement)) putForm(page);
  wantsForm = false;
  for (const id of ["told", "check", "preview", part("find") ? "scope-count" : "scope"]) put(id, page);
  document.dispatchEvent(new Event("fencepost:drawn"));
}

async function send(edit) {
  if (isLocked()) return;
  const at = presses;
  const body = new FormData(form);
  if (edit) body.set("edit", edit);
  const answer = await fetch(form.action, { method: "POST", headers: HEADERS, body, credentials: "same-origin" }).catch(() => null);
  if (answer?.status === 401) document.dispatchEvent(new Event("fencepost:signed-out"));
  form.toggleAttribute("data-told", answer?.status === 409);
  if (answer?.status === 409 || answer?.status === 422) { tell("not saved"); return void told(await answer.text()); }
  if (!answer?.ok) { tell("not saved yet, trying again"); return void schedule(3000); }
  const page = parse(await answer.text());
  if (!page.getElementById("version")) return; // another page: the draft became a task meanwhile
  sent = at;
  part("version").value = page.getElementById("version").value;
  tell(page.querySelector("[data-saved]").textContent);
  if (at === presses) draw(page);
}

export function schedule(wait = 400) { clearTimeout(timer); timer = setTimeout(sync, wait); }
export function sync(edit = "") { clearTimeout(timer); wantsForm ||= edit !== ""; flight = flight.then(() => send(edit)); return flight; }
export function pressed(target) {
  presses += 1;
  wantsForm ||= target.id === "source" || target.matches("[data-redraws]");
  history.replaceState(null, "", form.dataset.address);
}
