// Repair: curves to choose from, and lines that are decided by hand.
import { attempt, all, call, fill, one, project } from "/static/shared.js";

const curves = one("#curves");
if (curves) {
  attempt(async () => {
    const told = await call("POST", `/p/${project}/live`, { part: "curves", settings: {}, query: {} });
    fill(curves, told.html);
    one("#curves-section").hidden = !curves.children.length;
  })();
}

const form = one("[data-lines]");
if (form?.dataset.method) {
  const { gone, hidden, kept, method } = form.dataset;
  const listed = (text) => text.split(/[\s,;]+/).filter((part) => /^[A-Z]{0,3}\d{1,9}$/.test(part));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const boxes = all("[data-keep]", form);
    const shown = boxes.map((box) => box.dataset.keep);
    const chosen = boxes.filter((box) => box.checked).map((box) => box.dataset.keep);
    const more = listed(one("#more-lines", form).value);
    const search = new URLSearchParams();
    if (method === "lines") {
      const lines = [...listed(gone).filter((line) => !chosen.includes(line)), ...more];
      search.set("lines", [...new Set(lines)].sort((a, b) => a - b).join(","));
    } else {
      // Lines to keep that are on another page of the changes stay kept.
      const keep = [...new Set([...listed(kept).filter((line) => !shown.includes(line)), ...chosen])];
      if (keep.length) search.set("keep", keep.join(","));
      const hide = [...new Set(more.length ? more : listed(hidden))];
      if (hide.length) search.set("hide", hide.join(","));
    }
    if ([...search].some(([, value]) => value)) location.assign(`/p/${project}/repair?${search}`);
  });
}
