// Comforts only: every page works without this file. Nothing is remembered, nothing is sent elsewhere.
"use strict";

// "/" goes to the search box, as on many sites of reference; not while something is being typed.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) return;
  const box = document.querySelector("[data-slash]");
  if (!box) return;
  event.preventDefault();
  box.focus();
  box.select();
});

// The question has room for several lines, yet Enter asks it; Shift+Enter makes a new line.
for (const box of document.querySelectorAll("[data-enter]")) {
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    box.form.requestSubmit();
  });
}

// "Copy link" takes the place of the plain link where it can work. These two alone hold the question in an address.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  const label = button.querySelector("span");
  const said = button.parentElement.querySelector("[data-said]");
  const before = label.textContent;
  let clock;
  button.hidden = false;
  const plain = button.parentElement.querySelector("[data-open]");
  plain.hidden = true;
  button.addEventListener("click", async () => {
    const address = new URL(button.dataset.copy, document.baseURI).href;
    const copied = await navigator.clipboard.writeText(address).then(() => true, () => false);
    label.textContent = said.textContent = copied ? button.dataset.done : button.dataset.failed;
    plain.hidden = copied;
    clearTimeout(clock);
    clock = setTimeout(() => { label.textContent = before; said.textContent = ""; }, 5000);
  });
}

// The law of another day is being prepared: ask again by and by.
const waiting = document.querySelector("[data-again]");
if (waiting) {
  setTimeout(() => {
    const form = waiting.querySelector("[data-again-form]");
    if (form) form.submit();
    else location.reload();
  }, Number(waiting.dataset.again) * 1000);
}
