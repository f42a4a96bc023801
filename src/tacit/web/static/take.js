// Take away: the review.
import { WORDS } from "/static/words.js";
import { all, attempt, change, fields, say } from "/static/shared.js";

for (const form of all("[data-review]")) {
  const save = attempt(async () => {
    await change({ review: fields(form) });
    say(WORDS.saved);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
}
