// Keys. Anything with data-key can be pressed by that key; the ? dialog is made from what is on the page.
// Fields are exempt. No key here sends a decision: a key only follows a link, opens a sheet or moves the focus.
import { install } from "./hotkeys.js";

const root = document.documentElement;
const single = root.dataset.keys !== "off";
let installed = [];

function refresh() {
  installed = single ? [...document.querySelectorAll("[data-key]")] : [];
  install(installed);
  for (const el of document.querySelectorAll("[data-needs-script]")) el.hidden = false;
}

function words(el) {
  return el.dataset.keyLabel || el.getAttribute("aria-label") || el.textContent.trim().replace(/\s+/g, " ");
}

function row(key, text) {
  const tr = document.createElement("tr");
  const th = document.createElement("th");
  th.scope = "row";
  for (const part of key.split(" ")) {
    const kbd = document.createElement("kbd");
    kbd.textContent = part;
    th.append(kbd, " ");
  }
  const td = document.createElement("td");
  td.textContent = text;
  tr.append(th, td);
  return tr;
}

function fill(dialog) {
  const seen = new Map(installed.map((el) => [el.dataset.key, words(el)]));
  if (single && document.querySelector("[data-row]")) {
    seen.set("j", "Next in the list").set("k", "Previous in the list");
  }
  dialog.querySelector("tbody").replaceChildren(...[...seen].map(([key, text]) => row(key, text)));
}

// A dialog opens from a button that names it: <button data-opens="id">.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (!opener) return;
  const dialog = document.getElementById(opener.dataset.opens);
  if (!(dialog instanceof HTMLDialogElement)) return;
  event.preventDefault();
  if (dialog.hasAttribute("data-key-help")) fill(dialog);
  if (!dialog.open) dialog.showModal();
});

document.addEventListener("htmx:after:swap", refresh);
document.addEventListener("fencepost:drawn", refresh);
refresh();
