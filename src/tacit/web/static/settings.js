// Controls that are saved as soon as they change: settings, roles of files, sheets, roles of columns, relations of people.
import { WORDS } from "/static/words.js";
import { all, answered, attempt, change, one, saySoftly, show } from "/static/shared.js";

// Where the screen shows the answer of a command, what is there stays until the new answer has come; only the last change is waited for.
let changes = 0;
const refresh = async (control) => {
  const region = control.closest("[data-region]");
  saySoftly(WORDS.saved);
  if (!region) return;
  changes += 1;
  const own = changes;
  region.classList.add("busy");
  if ("answers" in region.dataset) await answered(() => {}).catch(() => {});
  if (own !== changes) return;
  await show(location.href, region);
  region.classList.remove("busy");
};
const columnsWith = (root, role) => all("[data-chip]", root).filter((chip) => chip.value === role).map((chip) => chip.dataset.chip);
const savers = {
  setting: (control) => ({ settings: { [control.dataset.setting]: control.value } }),
  name: (control) => ({ name: control.value }),
  role: (control) => ({ roles: { [control.dataset.role]: control.value } }),
  sheet: (control) => ({ sheets: { [control.dataset.sheet]: control.value } }),
  // One column has the role of a setting; the others keep theirs.
  chip: (control) => {
    const chips = control.closest("[data-chips]");
    const sensitive = columnsWith(chips, "sensitive");
    return { settings: {
      qi: columnsWith(chips, "known").join(","),
      sa: sensitive.length ? sensitive.join(",") : chips.dataset.chips,
      identifying: columnsWith(chips, "identifying").join(","),
      person: columnsWith(chips, "person").slice(-1).join(","),
    } };
  },
  people: (control) => {
    const group = control.closest("[data-relation]");
    const chosen = one("select", group).value;
    const [left, joined] = all("input", group).map((input) => input.value.trim() || "0");
    return { settings: { people: chosen === "moved" ? `left:${left},joined:${joined}` : chosen } };
  },
  has: (control) => {
    const parts = all("input[data-has]:checked", control.closest("fieldset")).map((box) => box.dataset.has);
    return { settings: { attacker: parts.join(",") || "nothing" } };
  },
  preset: (control) => ({ settings: { attacker: control.value } }),
  // A file is given a role; whatever had it before is not used any more.
  give: (control) => {
    const role = control.dataset.give;
    const had = all(`[data-give="${role}"] option[data-has]`).map((option) => [option.value, "unused"]);
    const parts = all("input[data-has]:checked").map((box) => box.dataset.has);
    const part = one("input[data-has]", control.closest(".row")).dataset.has;
    const has = control.value ? [...new Set([...parts, part])] : parts.filter((one) => one !== part);
    return {
      roles: { ...Object.fromEntries(had), ...(control.value ? { [control.value]: role } : {}) },
      settings: { attacker: has.join(",") || "nothing" },
    };
  },
};
addEventListener("change", attempt(async ({ target }) => {
  const kind = Object.keys(savers).find((name) => name in target.dataset);
  if (!kind) return;
  await change(savers[kind](target));
  await refresh(target);
}));
addEventListener("click", attempt(async ({ target }) => {
  const button = target.closest("button[data-say]");
  if (!button) return;
  await change(JSON.parse(button.dataset.say));
  await refresh(button);
}));
