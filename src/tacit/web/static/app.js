// What every screen has: the progress of its command.
import { WORDS } from "/static/words.js";
import { all, answered, asked, attempt, call, one, project, show } from "/static/shared.js";

const work = one("[data-work]");
if (work) {
  const bar = one("progress", work);
  const stage = one("[data-stage]", work);
  let job = work.dataset.job;
  one("[data-cancel]", work).addEventListener("click", attempt(async () => {
    if (job) await call("DELETE", `/p/${project}/jobs/${job}`);
  }));
  attempt(async () => {
    await answered((told) => {
      job = told.job;
      if (told.share) bar.value = told.share;
      if (told.status === "waiting") stage.textContent = WORDS.waiting;
      else if (told.stage) stage.textContent = told.stage;
    });
    // What is being typed elsewhere on the page stays.
    const region = work.closest("[data-region]");
    if (region) await show(location.href, region);
    else location.reload();
  })();
}
for (const button of all("[data-run]")) {
  button.addEventListener("click", attempt(async () => {
    await call("POST", `/p/${project}/run`, asked());
    location.reload();
  }));
}
