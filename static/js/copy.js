// Copy. <button data-copy="text"> puts the text on the clipboard and says so, in the button and to a screen reader.
export function say(sentence) {
  const region = document.getElementById("say");
  if (region) region.textContent = sentence;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const words = button.querySelector("[data-copy-words]") || button;
  const before = words.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    words.textContent = "Copied";
  } catch {
    words.textContent = "Select and copy it by hand";
  }
  say(words.textContent);
  setTimeout(() => { words.textContent = before; }, 2000);
});

document.addEventListener("fencepost:say", (event) => say(event.detail));
