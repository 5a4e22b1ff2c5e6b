// What the desk's pages do beside htmx. Without this script everything can still be read.
"use strict";

// The branches of a tree open and close: a row names the row above it, and whether it is open.
function showBranches(table) {
  const open = new Map();
  for (const row of table.querySelectorAll("tr[data-id]")) {
    const above = row.dataset.parent;
    const shown = !above || open.get(above) !== false;
    row.hidden = !shown;
    const button = row.querySelector("button.branch");
    open.set(row.dataset.id, shown && (!button || button.getAttribute("aria-expanded") === "true"));
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.branch");
  if (button) {
    button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
    showBranches(button.closest("table"));
  }
  if (event.target.closest("button.print")) window.print();
  const take = event.target.closest("button.take");
  if (take) enter(take.dataset.field, take.dataset.value);
});

// A value goes into a field of the form by which an invoice is corrected, as if it had been typed.
function enter(field, value) {
  const input = document.getElementById("field-" + field);
  if (!input) return;
  input.value = value;
  input.focus();
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

// What is wrong with a field comes from the server while somebody types: the field says so, too.
const faults = new MutationObserver((changes) => {
  for (const { target } of changes) {
    const field = document.getElementById(target.id.replace("wrong-", "field-"));
    if (target.textContent) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
});

function start(root) {
  for (const table of root.querySelectorAll("table.tree")) showBranches(table);
  // What only works with this script is shown by it.
  for (const button of root.querySelectorAll("button.branch[hidden], button.print[hidden]")) button.hidden = false;
  for (const fault of root.querySelectorAll("p.wrong")) faults.observe(fault, { childList: true });
}

document.addEventListener("DOMContentLoaded", () => start(document));
document.addEventListener("htmx:afterSwap", (event) => start(event.target));

// A choice counts at once.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form.choose");
  if (form) form.requestSubmit();
});
