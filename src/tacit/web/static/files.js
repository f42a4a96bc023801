// Files and folders that are dropped or chosen, into a new project or this one.
import { WORDS } from "/static/words.js";
import { all, attempt, call, one, project, say } from "/static/shared.js";

const inFolder = (entry) => new Promise((done, failed) => {
  if (entry.isFile) {
    entry.file((file) => done([{ file, path: entry.fullPath.slice(1) }]), failed);
    return;
  }
  const reader = entry.createReader();
  const found = [];
  const read = () => reader.readEntries(async (entries) => {
    if (!entries.length) {
      done((await Promise.all(found.map(inFolder))).flat());
      return;
    }
    found.push(...entries);
    read();
  }, failed);
  read();
});
const dropped = async (transfer) => {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  return entries.length ? (await Promise.all(entries.map(inFolder))).flat() : [...transfer.files].map((file) => ({ file, path: file.name }));
};
const address = (into, path) => {
  const parts = path.split("/").map(encodeURIComponent);
  return parts.length > 1 ? `/p/${into}/folders/${parts.join("/")}` : `/p/${into}/files/${parts[0]}`;
};
const isHidden = ({ path }) => path.split("/").some((part) => part.startsWith("."));

for (const drop of all("[data-drop]")) {
  const take = attempt(async (listed) => {
    const files = listed.filter((one) => !isHidden(one));
    if (!files.length) {
      say(WORDS.noFiles);
      return;
    }
    const tops = [...new Set(files.map(({ path }) => path.split("/")[0]))];
    const mains = tops.filter((name) => !(name.endsWith(".json") && tops.includes(name.slice(0, -5))));
    const name = mains.length > 1 ? WORDS.several(mains[0], mains.length - 1) : mains[0];
    const into = "new" in drop.dataset ? (await call("POST", "/p", { name })).project : project;
    files.sort((a, b) => a.path.endsWith(".json") - b.path.endsWith(".json"));
    for (const { file, path } of files) {
      say(WORDS.reading(path));
      await call("PUT", address(into, path), file);
    }
    location.assign(`/p/${into}/open`);
  });
  drop.addEventListener("submit", (event) => event.preventDefault());
  for (const input of all("input[type=file]", drop)) {
    input.addEventListener("change", () => take([...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }))));
  }
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    take(await dropped(event.dataTransfer));
  });
}
for (const button of all("[data-example]")) {
  button.addEventListener("click", attempt(async () => {
    const made = await call("POST", "/p", { example: button.dataset.example });
    location.assign(`/p/${made.project}/open`);
  }));
}
