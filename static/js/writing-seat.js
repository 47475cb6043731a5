// A draft is open for writing in one page. This one sits down when it opens and leaves when it goes; a reload finds its
// own seat again, and what had not been sent yet. Another page is told, and can take the draft over.
import { HEADERS, form, isLocked, isUnsent, pressed, schedule, told } from "./writing-sync.js";

const place = `writing ${form.dataset.draft}`;
const left = JSON.parse(sessionStorage.getItem(place) ?? "{}");
sessionStorage.removeItem(place);
const mark = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
form.elements.seat.value ||= left.seat ?? mark();
const seat = form.elements.seat.value;
const seated = form.querySelector("[data-seated]");

function post(body, options = {}) {
  return fetch(form.dataset.seatAddress, { method: "POST", body, headers: HEADERS, credentials: "same-origin", ...options });
}

function words(what) {
  const body = new FormData(form);
  if (!isUnsent()) for (const name of [...body.keys()]) if (!["csrfmiddlewaretoken", "draft", "seat", "version"].includes(name)) body.delete(name);
  body.set("do", what);
  return body;
}

async function sit() {
  const answer = await post(words("sit")).catch(() => null);
  if (answer?.status !== 409) return;
  seated.disabled = true;
  told(await answer.text());
}

// What this page was drawn from may be older than what its forerunner still sent while it was asked for.
function restore() {
  const isNewer = left.fields && (left.isUnsent || Number(left.version) > Number(form.elements.version.value));
  if (!isNewer) return;
  for (const [name, value] of left.fields) {
    const field = form.elements[name];
    if (!field || ["seat", "version", "csrfmiddlewaretoken"].includes(name)) continue;
    field.value = value;
  }
  if (left.wasTold) form.elements.version.value = left.version;
  pressed(form.elements.source);
  schedule(0);
}

// Who was told that another page has the draft keeps the words through a reload, and is told again.
if (form.dataset.held === seat || left.wasTold) {
  document.querySelector("[data-open-elsewhere]")?.remove();
  seated.disabled = false;
}
if (!isLocked()) {
  if ("kept" in form.dataset && !left.wasTold) sit();
  restore();
}

addEventListener("pagehide", () => {
  const fields = isLocked() ? null : [...new FormData(form)];
  sessionStorage.setItem(place, JSON.stringify({ seat, fields, isUnsent: isUnsent(), version: form.elements.version.value, wasTold: form.hasAttribute("data-told") }));
  if (!isLocked()) post(words("leave"), { keepalive: true }).catch(() => null);
});
