// Keys of the page that writes a task: Ctrl+Enter publishes, Ctrl+S saves the draft, Alt with an arrow moves a criterion.
import { form, sync } from "./writing-sync.js";

document.addEventListener("keydown", (event) => {
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && event.key === "Enter" && form.contains(event.target)) {
    event.preventDefault();
    form.querySelector("[data-publish]").click();
  }
  if (isCommand && event.key.toLowerCase() === "s") {
    event.preventDefault();
    sync();
  }
  const way = event.altKey && { ArrowUp: "up", ArrowDown: "down" }[event.key];
  const criterion = way && event.target.closest("[data-criterion]");
  if (!criterion) return;
  event.preventDefault();
  criterion.querySelector(`[data-moves=${way}]`).click();
});
