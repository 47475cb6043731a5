// Sends the filter when it changes, so that its button is needed only without script.
for (const form of document.querySelectorAll("form[data-send-on-change]")) {
  form.addEventListener("change", () => form.requestSubmit());
  form.querySelector("button[type=submit]").hidden = true;
}
