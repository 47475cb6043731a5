// Where a comment points. A line number of the diff or of an output, or a point of a screenshot, becomes the place of
// the comment being written; drafts are drawn as numbered pins; h goes from one comment's place to the next.
import { keep } from "./decision-draft.js";

const field = (name) => document.getElementById(`say-${name}`);
const tell = (words) => document.dispatchEvent(new CustomEvent("fencepost:say", { detail: words }));
let at = -1;

function fits() {
  const kind = field("place")?.value.split(" ")[0];
  for (const each of document.querySelectorAll("[data-place] [data-of]")) each.hidden = !each.dataset.of.split(" ").includes(kind);
}

function aim(kind, name, point, words) {
  const place = field("place");
  const value = `${kind} ${name}`;
  if (![...place.options].some((option) => option.value === value)) place.add(new Option(name, value));
  place.value = value;
  for (const part of ["line", "x", "y"]) field(part).value = point[part] ?? "";
  for (const part of ["place", "line", "x", "y"]) keep(`comment_${part}`, field(part).value);
  fits();
  tell(`${words} is in the comment. Press c to write it.`);
}

function lineOf(number) {
  const row = number.closest("tr");
  if (row) return row.id.includes("-n") && ["file", row.closest("[data-file]").dataset.path, row.id.split("-n")[1]];
  return ["command", number.closest("[data-output]").dataset.output, number.textContent.trim()];
}

function pointed(figure, image, event) {
  const box = image.getBoundingClientRect();
  const share = (from, size) => Math.min(1000, Math.max(0, Math.round((from / size) * 1000)));
  const [x, y] = [share(event.clientX - box.left, box.width), share(event.clientY - box.top, box.height)];
  delete figure.dataset.pinning;
  aim("screenshot", figure.dataset.shot, { x, y }, `The point ${x / 10}% across, ${y / 10}% down of ${figure.dataset.shot}`);
  document.querySelector("[data-tab-link=talk]")?.click();
  field("it").focus();
}

function start(link) {
  const figure = link.closest("[data-shot]");
  for (const other of document.querySelectorAll("[data-pinning]")) if (other !== figure) delete other.dataset.pinning;
  figure.dataset.pinning = "";
  aim("screenshot", figure.dataset.shot, {}, figure.dataset.shot);
  tell("Click the point, or press c and type it as thousandths across and down.");
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || !field("place")) return;
  const link = event.target.closest("[data-pin]");
  const image = event.target.closest("[data-pinning] .now")?.querySelector("img");
  const number = event.target.closest(".file .ln a, .term [aria-label]");
  if (link || image) event.preventDefault();
  if (link) return start(link);
  if (image) return pointed(image.closest("[data-shot]"), image, event);
  const line = number?.matches("a") && lineOf(number);
  if (line) aim(line[0], line[1], { line: line[2] }, `Line ${line[2]} of ${line[1]}`);
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-next-note]")) return;
  const links = [...document.querySelectorAll("[data-note-at]")];
  if (!links.length) return tell("You have written no comment on a place yet.");
  at = (at + 1) % links.length;
  tell(links[at].textContent);
  links[at].click();
});

document.addEventListener("change", (event) => event.target === field("place") && fits());
document.addEventListener("fencepost:drawn", fits);
fits();
