// What a press in the form of a task does: fields are brought together after a pause, buttons of the lists at once.
import { form, pressed, schedule, sync } from "./writing-sync.js";

let isPublished = false;

form.addEventListener("input", (event) => {
  if (!event.target.name || event.target.name === "find") return;
  pressed(event.target);
  schedule(event.target.matches("select") ? 0 : 400);
});

// Publish, and what goes to the seat, are posts of their own; everything else stays on this page.
form.addEventListener("submit", (event) => {
  const by = event.submitter;
  if (by?.hasAttribute("data-publish") && isPublished) event.preventDefault();
  isPublished ||= by?.hasAttribute("data-publish") ?? false;
  if (by?.hasAttribute("formaction")) return;
  event.preventDefault();
  if (by?.name === "edit") pressed(by);
  sync(by?.name === "edit" ? by.value : "");
});

addEventListener("pageshow", () => { isPublished = false; });
if ("kept" in form.dataset) history.replaceState(null, "", form.dataset.address);
