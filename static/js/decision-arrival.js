// Arrival. When a round is superseded or decided while it is read, everything stays and the verdicts lock in place.
const arrival = () => document.getElementById("arrival");
let known = arrival()?.dataset.moved;

async function lock() {
  const now = arrival()?.dataset.moved;
  if (!now || now === known) return;
  known = now;
  for (const set of document.querySelectorAll(".verdict")) set.disabled = true;
  for (const dialog of document.querySelectorAll("dialog.sheet[open]")) dialog.close();
  const newest = arrival().dataset.newest;
  const acts = document.querySelector(".foot .acts");
  const link = document.createElement("a");
  link.className = "btn primary";
  link.href = newest ?? location.href;
  link.textContent = newest ? `Go to ${now}` : "See the decision";
  acts?.replaceChildren(link);
  const why = document.getElementById("why");
  if (why) why.textContent = newest ? `${now[0].toUpperCase()}${now.slice(1)} arrived while you were reading. What you typed is kept.` : "It was decided while you were reading. What you typed is kept.";
  document.dispatchEvent(new CustomEvent("fencepost:say", { detail: why?.textContent ?? "" }));
}

document.addEventListener("fencepost:drawn", lock);
