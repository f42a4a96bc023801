// Verdict: the slider asks again at every step; an answer that is no longer wanted is dropped.
import { all, answered, attempt, change, one, project, say, show } from "/static/shared.js";

const slider = one("[data-slider] input");
let last = null;
const step = attempt(async () => {
  last?.abort();
  last = new AbortController();
  const { signal } = last;
  const answer = one("#answer");
  const address = `${location.pathname}?k=${slider.value}`;
  history.replaceState(null, "", address);
  answer.classList.add("busy");
  const told = await answered(() => {}, signal);
  await show(address, answer, signal);
  answer.classList.remove("busy");
  say(told.has_answer ? "" : told.message);
});
slider.addEventListener("input", () => {
  one("[data-slider] output").textContent = slider.value;
  step();
});
for (const button of all("[data-keep-k]")) {
  button.addEventListener("click", attempt(async () => {
    await change({ settings: { ...JSON.parse(document.body.dataset.settings || "{}"), k: button.dataset.keepK } });
    location.assign(`/p/${project}/verdict`);
  }));
}
