// Token. Who signed in again in another tab has a new token there, and the forms here an old one: it is taken from the
// page as it would be drawn now, and nothing else of that page is used. Answers whether there was one.
const NAME = "csrfmiddlewaretoken";

export async function renew() {
  const answer = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok || answer.redirected) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const token = page.querySelector(`input[name=${NAME}]`)?.value;
  if (!token) return false;
  for (const field of document.querySelectorAll(`input[name=${NAME}]`)) field.value = token;
  return true;
}
