// In Datasette's menu of a column "Show all columns" takes away the choice in the address, and ours must go with it.
"use strict";
document.addEventListener("click", (event) => {
  const item = event.target.closest("a.dropdown-show-all-columns");
  if (!item) return;
  const url = new URL(item.href);
  url.searchParams.set("_cols", "all");
  item.href = url;
}, true);
