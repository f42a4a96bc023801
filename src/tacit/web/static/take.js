// Take away: what is made on demand, waivers, and the review.
import { WORDS } from "/static/words.js";
import { answered, attempt, call, fields, one, project, say, saySoftly, show } from "/static/shared.js";

const submitted = (selector, work) => addEventListener("submit", (event) => {
  if (!event.target.matches(selector)) return;
  event.preventDefault();
  attempt(work)(event.target);
});
submitted("[data-review]", async (form) => {
  await call("POST", `/p/${project}/review`, fields(form));
  await show(location.href, one("#reviewed"));
  saySoftly(WORDS.saved);
});
submitted("[data-waive]", async (form) => {
  await call("POST", `/p/${project}/waivers`, fields(form));
  location.reload();
});
addEventListener("click", attempt(async ({ target }) => {
  const wanted = target.closest("[data-want]");
  if (wanted) {
    const card = wanted.closest("[data-region]");
    wanted.disabled = true;
    wanted.textContent = WORDS.working;
    const told = await answered(() => {}, undefined, { what: wanted.dataset.want });
    await show(location.href, card);
    say(told.has_answer ? "" : told.message);
  }
  const withdrawn = target.closest("[data-unwaive]");
  if (withdrawn) {
    await call("DELETE", `/p/${project}/waivers/${withdrawn.dataset.unwaive}`);
    location.reload();
  }
  // A finding of the list is written into the form, with its people.
  const chosen = target.closest("[data-finding]");
  if (chosen) {
    const form = one("[data-waive]");
    form.closest("details").open = true;
    one("[name=kind]", form).value = "finding";
    one("[name=what]", form).value = chosen.dataset.finding;
    one("[name=people]", form).value = chosen.dataset.people;
    one("[name=reason]", form).focus();
  }
}));
