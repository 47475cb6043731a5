// Answers to a decision: a sheet shown, a refusal drawn in place of the page, a toast when nobody answered.
export const parse = (html) => new DOMParser().parseFromString(html, "text/html");

export function show(name) {
  for (const each of document.querySelectorAll("[data-sheet-dialog]")) {
    each.close();
    for (const field of each.querySelectorAll("[data-shared]")) field.disabled = each.dataset.sheetDialog !== name;
  }
  const dialog = document.getElementById(`sheet-${name}`);
  dialog?.showModal();
  dialog?.querySelector("h2")?.focus();
}

export function refuse(words, id) {
  document.querySelector("dialog[open]")?.close();
  const toast = document.querySelector("[data-toast]");
  toast.querySelector("[data-toast-words]").textContent = words;
  toast.querySelector("[data-toast-id]").textContent = id ? `request ${id}` : "";
  toast.hidden = false;
}

// A refusal is a page too: its words and its fields take the place of these, and the focus goes to what it says.
export function redraw(html) {
  const page = parse(html);
  for (const what of ["main", "#foot", "#sheets"]) {
    const fresh = page.querySelector(what);
    if (fresh) document.querySelector(what)?.replaceWith(document.importNode(fresh, true)); else document.querySelector(what)?.remove();
  }
  document.title = page.title;
  document.dispatchEvent(new Event("fencepost:drawn"));
  const sheet = document.querySelector("dialog.sheet[open]");
  if (sheet) show(sheet.dataset.sheetDialog);
  (document.querySelector("[aria-invalid=true]:enabled, main .panel h2[tabindex]") ?? document.querySelector("main")).focus();
}
