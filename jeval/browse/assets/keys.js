// Keys for those who like them; every page works without. A button or link names its key in data-key.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const at = event.target;
  if (at.matches("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]")) {
    if (event.key === "Escape") at.blur();
    return;
  }
  for (const item of document.querySelectorAll("[data-key]")) {
    if (item.dataset.key === event.key) {
      event.preventDefault();
      if (item.matches("input, textarea, select")) item.focus();
      else item.click();
      return;
    }
  }
});
// A choice in a list of filters takes effect at once.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-live]");
  if (form && event.target.matches("select, input[type=checkbox]")) form.requestSubmit();
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "copied";
  });
}
