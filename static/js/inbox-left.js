// A row that somebody else settled while it is on screen says so in its place, and stays until what is new is drawn.
const OTHERWISE = "No longer waits for you";

function tell() {
  for (const row of document.querySelectorAll("#buckets [data-row]:has([data-left])")) {
    const place = row.querySelector("[data-left]");
    if (!row.classList.contains("gone")) {
      place.replaceChildren();
      continue;
    }
    const told = document.querySelector(`[data-left-row="${CSS.escape(row.id)}"]`);
    const words = told?.textContent ?? OTHERWISE;
    if (place.textContent && !told) continue;
    if (place.textContent === words) continue;
    const state = document.createElement("span");
    state.className = "state";
    state.dataset.s = told?.dataset.code ?? "SUPERSEDED";
    state.textContent = words;
    place.replaceChildren(state);
    document.dispatchEvent(new CustomEvent("fencepost:say", { detail: `${row.querySelector(".id")?.textContent ?? "A delivery"}: ${words}` }));
  }
}

document.addEventListener("fencepost:drawn", tell);
