// Answers that are not a page: a toast for 429, 5xx and no network, with the request id; a way back in after 401.
const toast = document.querySelector("[data-toast]");

function tell(sentence, id) {
  toast.querySelector("[data-toast-words]").textContent = sentence;
  toast.querySelector("[data-toast-id]").textContent = id ? `request ${id}` : "";
  toast.hidden = false;
}

// Who is typing is not interrupted: the words would go to the dialog. It opens when the field is left.
function signedOut(event) {
  const field = document.activeElement;
  if (event?.detail !== "now" && field?.matches("textarea, input:not([type=radio], [type=checkbox])")) {
    field.addEventListener("blur", () => signedOut({ detail: "now" }), { once: true });
    return;
  }
  const dialog = document.getElementById("signed-out");
  if (dialog && !dialog.open) dialog.showModal();
}

document.addEventListener("htmx:before:swap", (event) => {
  const answer = event.detail.ctx && event.detail.ctx.response;
  if (!answer) return;
  const status = answer.status ?? answer.raw.status;
  const id = answer.headers?.get?.("X-Request-Id");
  if (status === 401) { event.preventDefault(); signedOut(); }
  if (status === 429 || status >= 500) {
    event.preventDefault();
    tell("The server could not answer. Nothing you typed is lost; try again, it will not happen twice.", id);
  }
});

document.addEventListener("htmx:error", () => {
  tell("No answer came. Nothing you typed is lost; try again, it will not happen twice.", "");
});

document.addEventListener("htmx:after:swap", () => {
  const panel = document.querySelector("#conflict [tabindex='-1'], #conflict[tabindex='-1']");
  if (panel && panel.textContent.trim() && !panel.dataset.told) {
    panel.dataset.told = "yes";
    panel.focus();
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-toast-close]")) toast.hidden = true;
  const closer = event.target.closest("[data-closes]");
  if (closer) closer.closest("dialog").close();
});

document.addEventListener("fencepost:signed-out", signedOut);
