// Register: add this release after its approval; take the last one along.
import { WORDS } from "/static/words.js";
import { answered, attempt, call, one, project, saySoftly, show } from "/static/shared.js";

addEventListener("click", attempt(async ({ target }) => {
  if (target.closest("[data-add]")) {
    const told = await answered(() => {}, undefined, { what: "add" });
    if (!told.has_answer) throw new Error(told.message);
    await show(location.href, one("#register"));
    saySoftly(WORDS.added);
  }
  if (target.closest("[data-last]")) {
    await call("POST", `/p/${project}/register/last`, {});
    location.assign(`/p/${project}/verdict`);
  }
}));
