// Open: files are recognised; those that nobody has given a role get the one that they seem to have.
import { WORDS } from "/static/words.js";
import { answered, attempt, call, one, project, show } from "/static/shared.js";

const region = one("#recognised");
const start = attempt(async () => {
  const guesses = one("[data-adopts]", region);
  if (guesses) {
    const told = await call("POST", `/p/${project}/adopt`, {});
    if (told.changed) {
      await answered(() => {});
      await show(location.href, region);
    } else guesses.remove();
  }
});
addEventListener("click", attempt(async ({ target }) => {
  const forgotten = target.closest("[data-forget]");
  if (forgotten) {
    await call("DELETE", `/p/${project}/files/${encodeURIComponent(forgotten.dataset.forget)}`);
    await show(location.href, region);
  }
  if (target.closest("[data-remove-project]") && confirm(WORDS.deleteProject)) {
    await call("DELETE", `/p/${project}`);
    location.assign("/");
  }
}));
addEventListener("tacit:shown", start);
start();
