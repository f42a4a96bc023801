// Files that are dropped or chosen, into a new project or this one.
import { WORDS } from "/static/words.js";
import { all, attempt, call, one, project, say } from "/static/shared.js";

const send = async (files, into) => {
  for (const file of files) {
    say(WORDS.reading(file.name));
    await call("PUT", `/p/${into}/files/${encodeURIComponent(file.name)}`, file);
  }
};
for (const drop of all("[data-drop]")) {
  const take = attempt(async (files) => {
    if (!files.length) return;
    const isNew = "new" in drop.dataset;
    const name = files.length > 1 ? WORDS.several(files[0].name, files.length - 1) : files[0].name;
    const into = isNew ? (await call("POST", "/p", { name })).project : project;
    const headersLast = [...files].sort((a, b) => a.name.endsWith(".json") - b.name.endsWith(".json"));
    await send(headersLast, into);
    location.assign(files.length > 1 || !isNew ? `/p/${into}/open` : `/p/${into}/verdict`);
  });
  drop.addEventListener("submit", (event) => event.preventDefault());
  one("input", drop).addEventListener("change", (event) => take(event.target.files));
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); drop.classList.remove("over"); take(event.dataTransfer.files); });
}
