// Which element a pressed key means: event.key as data-key has it ("j", "J", "]"), or two in a row ("g b").
// Exempt are fields, keys with Ctrl, Alt or Meta, what an open dialog covers, and what is hidden.
const PATIENCE_MS = 1500;
let wanted = new Map();
let first = "";
let since = 0;

// The elements that can be pressed from now on; of two with one key the later counts.
export function install(elements) {
  wanted = new Map(elements.map((el) => [el.dataset.key, el]));
}

function isField(el) {
  return el.isContentEditable || el.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=range], [type=button], [type=submit])");
}

function meant(key, now) {
  const pair = first && now - since < PATIENCE_MS ? wanted.get(`${first} ${key}`) : undefined;
  first = pair ? "" : key;
  since = now;
  return pair ?? wanted.get(key) ?? wanted.get(key.toLowerCase());
}

function press(el) {
  if (el.matches("input, textarea, select")) el.focus();
  else el.click();
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.key.length > 1) return;
  if (event.target instanceof HTMLElement && isField(event.target)) return;
  const el = meant(event.key, event.timeStamp);
  const open = document.querySelector("dialog[open]");
  if (!el || el.hidden || (open && !open.contains(el))) return;
  event.preventDefault();
  press(el);
});
