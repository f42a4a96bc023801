// Make: the fields of a verb become the address, so that a reload makes nothing twice and loses nothing.
import { WORDS } from "/static/words.js";
import { all, attempt, call, one, project, say } from "/static/shared.js";

const form = one("form[data-make]");
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const asked = new URLSearchParams({ make: form.dataset.make });
  for (const field of all("[name]", form)) {
    if (field.type === "checkbox" ? field.checked : field.value.trim()) asked.set(field.name, field.value.trim() || "yes");
  }
  for (const group of all("[data-columns]", form)) {
    const chosen = all("input", group).filter((box) => box.checked).map((box) => box.value);
    if (chosen.length) asked.set(group.dataset.columns, chosen.join(","));
    else if ("needed" in group.dataset) {
      say(WORDS.chooseColumns);
      one("input", group)?.focus();
      return;
    }
  }
  location.assign(`?${asked}#made`);
});
addEventListener("click", attempt(async ({ target }) => {
  if (!target.closest("[data-use]")) return;
  await call("POST", `/p/${project}/make/use`, Object.fromEntries(new URLSearchParams(location.search)));
  location.assign(`/p/${project}/verdict`);
}));
