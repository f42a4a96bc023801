// What every screen has: the progress of its command, also where a region of the page has just come.
import { WORDS } from "/static/words.js";
import { all, answered, asked, attempt, call, one, project, show } from "/static/shared.js";

const watch = (work) => {
  const bar = one("progress", work);
  const stage = one("[data-stage]", work);
  const more = JSON.parse(work.dataset.asked || "{}");
  let job = work.dataset.job;
  const button = one("[data-cancel]", work);
  button.addEventListener("click", attempt(async () => {
    if (bar.hidden) location.reload();
    else if (job) await call("DELETE", `/p/${project}/jobs/${job}`);
  }));
  const follow = (told) => {
    job = told.job;
    if (told.share) bar.value = told.share;
    if (told.status === "waiting") stage.textContent = WORDS.waiting;
    else if (told.stage) stage.textContent = told.stage;
  };
  attempt(async () => {
    try {
      await answered(follow, undefined, more);
    } catch (failure) {
      bar.hidden = true;
      stage.textContent = failure.message;
      button.textContent = WORDS.runAgain;
      return;
    }
    // What is being typed elsewhere on the page stays.
    const region = work.closest("[data-region]");
    if (region) await show(location.href, region);
    else location.reload();
  })();
};
const start = (root) => {
  for (const work of all("[data-work]", root)) watch(work);
  for (const button of all("[data-run]", root)) {
    button.addEventListener("click", attempt(async () => {
      await call("POST", `/p/${project}/run`, { ...asked(), ...JSON.parse(button.dataset.run || "{}") });
      location.reload();
    }));
  }
};
start(document);
addEventListener("tacit:shown", (event) => start(event.target));
one(".bar [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
