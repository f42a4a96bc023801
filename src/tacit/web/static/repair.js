// Repair: curves to choose from, and lines that are decided by hand.
import { WORDS } from "/static/words.js";
import { attempt, all, call, fill, one, project } from "/static/shared.js";

const curves = one("#curves");
if (curves) {
  attempt(async () => {
    const told = await call("POST", `/p/${project}/live`, { part: "curves", settings: {}, query: {} });
    fill(curves, told.html);
    one("#curves-section").hidden = !curves.children.length;
  })();
}

one("[data-adopt]")?.addEventListener("click", attempt(async () => {
  await call("POST", `/p/${project}/repair/use`, Object.fromEntries(new URLSearchParams(location.search)));
  location.assign(`/p/${project}/verdict`);
}));

// Lines that are decided by hand: kept, or hidden first; of a list of lines, those that are left out.
const form = one("[data-lines]");
if (form?.dataset.method) {
  const { gone, hidden, kept, method } = form.dataset;
  const listed = (text) => text.split(",").filter(Boolean);
  const before = { keep: listed(kept), hide: listed(hidden) };
  const chosen = { keep: new Set(before.keep), hide: new Set(before.hide) };
  const isAsBefore = () => ["keep", "hide"].every((name) => before[name].length === chosen[name].size && before[name].every((place) => chosen[name].has(place)));
  const paint = () => {
    for (const button of all("[data-decide]", form)) {
      button.setAttribute("aria-pressed", String(chosen[button.dataset.decide].has(button.dataset.place)));
    }
    const { keep, hide } = chosen;
    one("#decided", form).textContent = keep.size || hide.size ? WORDS.decided(keep.size, hide.size, method === "lines") : WORDS.undecided;
    one("[type=submit]", form).disabled = isAsBefore() || !(keep.size || hide.size);
    one("[data-undecide]", form).disabled = !(keep.size || hide.size);
  };
  form.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-decide]");
    if (button) {
      const { decide, place } = button.dataset;
      const other = decide === "keep" ? "hide" : "keep";
      if (!chosen[decide].delete(place)) chosen[decide].add(place);
      chosen[other].delete(place);
    }
    if (target.closest("[data-undecide]")) for (const name of ["keep", "hide"]) chosen[name].clear();
    paint();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const search = new URLSearchParams();
    if (method === "lines") {
      const lines = [...listed(gone).filter((place) => !chosen.keep.has(place)), ...chosen.hide];
      if (lines.length) search.set("lines", [...new Set(lines)].sort((a, b) => a - b).join(","));
    } else {
      for (const name of ["keep", "hide"]) if (chosen[name].size) search.set(name, [...chosen[name]].join(","));
    }
    location.assign(`/p/${project}/repair?${search}`);
  });
  // The whole release comes when it is wanted, page by page.
  const query = { method };
  const lines = one("#lines", form);
  const showLines = async () => fill(lines, (await call("POST", `/p/${project}/live`, { part: "lines", settings: {}, query })).html);
  one("#others", form)?.addEventListener("toggle", attempt(async ({ target }) => {
    if (target.open && !lines.children.length) await showLines();
    paint();
  }));
  lines?.addEventListener("click", attempt(async ({ target }) => {
    const { name, page } = target.closest("[data-page]")?.dataset || {};
    if (!name) return;
    Object.assign(query, { [name]: page, release: target.closest("[data-release]").dataset.release });
    await showLines();
    paint();
  }));
  paint();
}
