// Verdict: sliders ask again at every step; an answer that is no longer wanted is dropped.
import { WORDS } from "/static/words.js";
import { all, attempt, call, change, fill, one, project, say, wait } from "/static/shared.js";

const form = one("[data-sliders]");
const words = JSON.parse(form.dataset.words);
const answer = one("#answer");
const dialog = one("#proof");
const steps = one("#steps");
const CHANGES = ["min-support", "base", "decimals", "cell-base"];
const NAMES = ["k", "l", ...CHANGES];
const query = {};
let ranges = [];
let last = new AbortController();

const settings = () => Object.fromEntries([...new URLSearchParams(location.search)].filter(([name]) => NAMES.includes(name)));
const ask = (part, more = {}, signal = last.signal) =>
  call("POST", `/p/${project}/live`, { part, settings: settings(), query, ...more }, signal);
const address = (chosen) => {
  const search = new URLSearchParams(chosen).toString();
  return location.pathname + (search ? `?${search}` : "");
};

// What is shown
const prepare = () => {
  if (one("#head")) return;
  answer.replaceChildren(one("#live").content.cloneNode(true));
};
const refocus = (region, markup) => {
  const active = document.activeElement;
  const names = ["name", "data-name", "data-page", "aria-label", "data-rank", "data-only-used"];
  const held = region.contains(active) ? names.filter((name) => active.hasAttribute(name)) : [];
  const selector = active.tagName + held.filter((name) => name !== "data-page")
    .map((name) => `[${name}="${CSS.escape(active.getAttribute(name))}"]`).join("");
  const place = held.length ? all(selector, region).indexOf(active) : -1;
  fill(region, markup);
  if (place >= 0) (all(selector, region)[place] || all(selector, region)[0])?.focus({ preventScroll: true });
};
const showHead = (told) => {
  prepare();
  fill(one("#head"), told.html);
  answer.dataset.step = String(Number(answer.dataset.step || 0) + 1);
  one("#spoken").textContent = one("#head .verdict").textContent.trim().replace(/\s+/g, " ");
};
const showBody = async (signal) => refocus(one("#body"), (await ask("body", {}, signal)).html);
const label = (name) => `${words[name][0]} ${settings()[name]}`;

const showSteps = () => {
  const chosen = settings();
  const changed = CHANGES.filter((name) => name in chosen);
  const limits = NAMES.filter((name) => name in chosen && !changed.includes(name));
  const buttons = [];
  const button = (text, action) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", attempt(action));
    buttons.push(made);
  };
  if (limits.length) {
    button(WORDS.keep(limits.map((name) => `${name} = ${chosen[name]}`).join(", ")), async () => {
      const kept = JSON.parse(document.body.dataset.settings || "{}");
      await change({ settings: { ...kept, ...Object.fromEntries(limits.map((name) => [name, chosen[name]])) } });
      location.assign(`/p/${project}/verdict`);
    });
  }
  for (const name of changed) {
    button(WORDS.make(label(name)), () => { location.assign(`/p/${project}/repair?${new URLSearchParams({ ...chosen })}`); });
  }
  if (limits.length || changed.length) button(WORDS.asPublished, () => { location.assign(location.pathname); });
  steps.replaceChildren(...buttons);
  steps.hidden = !buttons.length;
};

// A step: the numbers at once, then the lists; what is slow comes later, from a process of its own, and joins them.
const computing = one("#computing");
const shows = (text, label, action) => {
  one("span", computing).textContent = text;
  const button = one("button", computing);
  button.textContent = label;
  button.onclick = attempt(action);
  computing.hidden = false;
};
const complete = async (codes, signal) => {
  const path = `/p/${project}/live/finish`;
  const again = (text) => shows(text, WORDS.runAgain, () => step());
  let isCancelled = false;
  const stop = async () => {
    isCancelled = true;
    await call("DELETE", path);
  };
  let told = await call("POST", path, { settings: settings() }, signal);
  for (let rest = 100; !told.is_over; rest = Math.min(500, rest * 1.6)) {
    const share = told.share ? ` (${Math.round(100 * told.share)} %)` : "";
    shows(`${WORDS.computing(codes)}${share}`, WORDS.cancel, stop);
    await wait(rest);
    signal.throwIfAborted();
    if (isCancelled) {
      again(WORDS.notComputed(codes));
      return false;
    }
    told = await call("GET", path, undefined, signal);
  }
  computing.hidden = true;
  if (!told.has_answer) again(`${WORDS.notComputed(codes)} ${told.message}`);
  return told.has_answer;
};
const finish = async (signal) => {
  await wait(250);
  signal.throwIfAborted();
  const told = await ask("head", { patient: true }, signal);
  showHead(told);
  await showBody(signal);
  if (!told.pending.length || !await complete(told.pending.join(", "), signal)) return;
  showHead(await ask("head", {}, signal));
  await showBody(signal);
};
const settled = (signal) => { if (!signal.aborted) form.removeAttribute("data-busy"); };
const step = attempt(async () => {
  last.abort();
  last = new AbortController();
  const { signal } = last;
  form.setAttribute("data-busy", "");
  computing.hidden = true;
  showSteps();
  const told = await ask("head", {}, signal);
  showHead(told);
  say("");
  if (told.pending.length && !one("#body").childNodes.length) await showBody(signal);
  if (told.pending.length) await finish(signal);
  else {
    // Lists take longer than numbers: a slider that is still moving does not wait for them.
    await wait(150);
    signal.throwIfAborted();
    await showBody(signal);
  }
  settled(signal);
});
const choose = (name, value) => {
  const chosen = settings();
  if (CHANGES.includes(name)) for (const other of CHANGES) delete chosen[other];
  const range = ranges.find((one) => one.name === name);
  if (value === range?.now) delete chosen[name];
  else chosen[name] = value;
  delete query.page;
  delete query["lines-page"];
  history.replaceState(null, "", address(chosen));
  for (const slider of all("input[type=range]", form)) if (slider.id !== name) settle(slider);
  step();
};

// Sliders, one for each setting that makes sense here
const shown = (name, value) => (value === null || value === undefined || (name.endsWith("base") && value === 1) ? WORDS.asIs : `${value.toLocaleString("en")}`);
const settle = (slider) => {
  const range = ranges.find((one) => one.name === slider.id);
  if (!range) return;
  const wanted = settings()[slider.id];
  const value = wanted === undefined ? range.now : Number(wanted);
  const at = range.now === null && wanted === undefined ? 0 : range.steps.indexOf(value);
  slider.value = String(at >= 0 ? at : 0);
  speak(slider, range.steps[Number(slider.value)]);
};
const speak = (slider, value) => {
  const text = shown(slider.id, value);
  slider.setAttribute("aria-valuetext", text);
  one(`output[for="${slider.id}"]`, form).textContent = text;
};
const build = (found) => {
  if (ranges.length) return;
  ranges = found.map((one) => ({ ...one, steps: one.now === null ? [null, ...one.values] : one.values }));
  const focused = document.activeElement.id;
  form.replaceChildren(...ranges.map((range) => {
    const line = document.createElement("p");
    line.className = "slider";
    const name = document.createElement("label");
    const slider = document.createElement("input");
    const output = document.createElement("output");
    name.htmlFor = slider.id = output.htmlFor.value = range.name;
    name.textContent = words[range.name][0];
    name.title = words[range.name][1];
    Object.assign(slider, { type: "range", min: "0", max: String(range.steps.length - 1) });
    slider.addEventListener("input", () => {
      const value = range.steps[Number(slider.value)];
      speak(slider, value);
      choose(range.name, value === null ? range.now : value);
    });
    line.append(name, slider, output);
    return line;
  }));
  for (const slider of all("input", form)) settle(slider);
  if (focused) document.getElementById(focused)?.focus();
};

// Proofs, pages and filters
const showProof = async (rank) => {
  const told = await ask("proof", { query: { rank: String(rank) } });
  fill(one("#proof-body"), told.html);
  if (!dialog.open) dialog.showModal();
  one("#proof-body").scrollTop = 0;
  for (const row of all(".release .cited")) row.classList.remove("cited");
  for (const link of all("#proof-body a[href^='#line-']")) document.getElementById(link.hash.slice(1))?.classList.add("cited");
};
const showLine = async (anchor) => {
  dialog.close();
  const [, release, line] = /^line-(\d+)-(.+)$/.exec(anchor) || [];
  if (!document.getElementById(anchor) && /^\d+$/.test(line)) {
    delete query.lines;
    Object.assign(query, { release, line });
    await showBody(last.signal);
    delete query.line;
  }
  const row = document.getElementById(anchor);
  if (!row) return;
  row.classList.add("cited");
  row.setAttribute("tabindex", "-1");
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "center" });
};
const list = async (changes) => {
  for (const [name, value] of Object.entries(changes)) {
    if (value) query[name] = String(value);
    else delete query[name];
  }
  await showBody(last.signal);
};
document.addEventListener("click", (event) => {
  if (!one("#head")) return;
  const target = event.target.closest("a[href^='#'], button");
  if (!target || (!answer.contains(target) && !dialog.contains(target))) return;
  const { rank, page, name, column, size } = target.dataset;
  const hash = target.hash?.slice(1) || "";
  const proof = rank || (/^finding-(\d+)$/.exec(hash) || [])[1];
  if (proof) {
    event.preventDefault();
    attempt(() => showProof(proof))();
  } else if (hash.startsWith("line-")) {
    event.preventDefault();
    attempt(() => showLine(hash))();
  } else if (page !== undefined) {
    const { release } = target.closest("[data-release]")?.dataset || {};
    attempt(() => list({ [name]: page, ...(release ? { release } : {}) }))();
  } else if (column !== undefined) {
    attempt(async () => {
      await list({ column, size, page: "" });
      one("#findings-title")?.scrollIntoView();
    })();
  } else if ("clear" in target.dataset) {
    attempt(() => list({ attack: "", column: "", size: "", page: "" }))();
  }
});
answer.addEventListener("change", (event) => {
  const { target } = event;
  if ("onlyUsed" in target.dataset) attempt(() => list({ lines: target.checked ? "used" : "", "lines-page": "" }))();
  else if (target.closest("[data-filters]")) attempt(() => list({ [target.name]: target.value, page: "" }))();
});

if ("live" in form.dataset) {
  attempt(async () => {
    const told = await ask("head");
    build(told.ranges);
    showSteps();
    showHead(told);
    await showBody(last.signal);
    if (told.pending.length) await finish(last.signal);
    settled(last.signal);
  })();
}
