// Operators' forms. A form is sent once; what a refusal says, or the field it is about, gets the focus.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-once]");
  if (!form) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-once]")) delete form.dataset.sent;
});
const told = document.querySelector("[data-takes-focus]");
if (told) told.focus();
