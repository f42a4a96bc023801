// Open: roles of files, settings, removal.
import { WORDS } from "/static/words.js";
import { all, attempt, call, change, fields, project, say } from "/static/shared.js";

for (const choice of all("[data-role]")) {
  choice.addEventListener("change", attempt(async () => {
    await change({ roles: { [choice.dataset.role]: choice.value } });
    say(WORDS.saved);
  }));
}
for (const button of all("[data-forget]")) {
  button.addEventListener("click", attempt(async () => {
    await call("DELETE", `/p/${project}/files/${encodeURIComponent(button.dataset.forget)}`);
    location.reload();
  }));
}
for (const button of all("[data-remove-project]")) {
  button.addEventListener("click", attempt(async () => {
    if (!confirm(WORDS.deleteProject)) return;
    await call("DELETE", `/p/${project}`);
    location.assign("/");
  }));
}
for (const form of all("form[data-settings]")) {
  const save = attempt(async () => {
    await change({ settings: fields(form) });
    location.assign(`/p/${project}/verdict`);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
}
