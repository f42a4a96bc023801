"use strict";
(() => {
  const policy = window.trustedTypes ? trustedTypes.createPolicy("tacit", { createHTML: (text) => text }) : { createHTML: (text) => text };
  const { project, screen } = document.body.dataset;
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const one = (selector, inside = document) => inside.querySelector(selector);
  const wait = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
  const says = one("#says");

  const say = (text) => {
    says.textContent = text;
    says.hidden = !text;
  };

  const call = async (method, address, body, signal) => {
    const isFile = body instanceof Blob;
    let answer;
    try {
      answer = await fetch(address, { method, signal, body: isFile || body === undefined ? body : JSON.stringify(body),
        headers: isFile ? { "Content-Type": "application/octet-stream" } : { "Content-Type": "application/json" } });
    } catch (failure) {
      if (failure.name === "AbortError") throw failure;
      throw new Error("The server does not answer. Start tacit serve again.");
    }
    const told = await answer.json().catch(() => ({ error: "The server gave no answer. Reload the page." }));
    if (!answer.ok) throw new Error(told.error || "This did not work. Reload the page.");
    return told;
  };
  const attempt = (work) => async (event) => {
    try {
      await work(event);
    } catch (failure) {
      if (failure.name !== "AbortError") say(failure.message);
    }
  };

  const send = async (files, into) => {
    for (const file of files) {
      say(`Reading ${file.name}`);
      await call("PUT", `/p/${into}/files/${encodeURIComponent(file.name)}`, file);
    }
  };
  for (const drop of all("[data-drop]")) {
    const take = attempt(async (files) => {
      if (!files.length) return;
      const isNew = "new" in drop.dataset;
      const name = files.length > 1 ? `${files[0].name} and ${files.length - 1} more` : files[0].name;
      const into = isNew ? (await call("POST", "/p", { name })).project : project;
      const headersLast = [...files].sort((a, b) => a.name.endsWith(".json") - b.name.endsWith(".json"));
      await send(headersLast, into);
      location.assign(files.length > 1 || !isNew ? `/p/${into}/open` : `/p/${into}/verdict`);
    });
    drop.addEventListener("submit", (event) => event.preventDefault());
    one("input", drop).addEventListener("change", (event) => take(event.target.files));
    drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => { event.preventDefault(); drop.classList.remove("over"); take(event.dataTransfer.files); });
  }

  for (const choice of all("[data-role]")) {
    choice.addEventListener("change", attempt(async () => {
      await call("PATCH", `/p/${project}`, { roles: { [choice.dataset.role]: choice.value } });
      say("Saved.");
    }));
  }
  for (const button of all("[data-forget]")) {
    button.addEventListener("click", attempt(async () => {
      await call("DELETE", `/p/${project}/files/${encodeURIComponent(button.dataset.forget)}`);
      location.reload();
    }));
  }
  for (const button of all("[data-remove-project]")) {
    button.addEventListener("click", attempt(async () => {
      if (!confirm("Delete this project, its answers and the copies of its files?")) return;
      await call("DELETE", `/p/${project}`);
      location.assign("/");
    }));
  }
  const fields = (form) => Object.fromEntries(all("[name]", form).map((field) => [field.name, field.value]));
  for (const form of all("form[data-settings]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await attempt(async () => {
        await call("PATCH", `/p/${project}`, { settings: fields(form) });
        location.assign(`/p/${project}/verdict`);
      })();
    });
  }
  for (const form of all("[data-review]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await attempt(async () => {
        await call("PATCH", `/p/${project}`, { review: fields(form) });
        say("Saved.");
      })();
    });
  }

  // The answer of a screen: asked for, watched, then shown.
  const show = async (address, region, signal) => {
    const page = await (await fetch(address, { signal })).text();
    const fresh = new DOMParser().parseFromString(policy.createHTML(page), "text/html");
    region.replaceChildren(...one(`#${region.id}`, fresh).childNodes);
    region.dispatchEvent(new Event("tacit:shown", { bubbles: true }));
  };
  const asked = () => ({ screen, ...Object.fromEntries(new URLSearchParams(location.search)) });
  const answered = async (onProgress, signal) => {
    let told = await call("POST", `/p/${project}/run`, asked(), signal);
    for (let rest = 20; !told.is_over; rest = Math.min(500, rest * 1.6)) {
      await wait(rest);
      signal?.throwIfAborted();
      told = await call("GET", `/p/${project}/jobs/${told.job}`, undefined, signal);
      onProgress(told);
    }
    return told;
  };
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
        if (told.status === "waiting") stage.textContent = "Waiting for other commands";
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

  // The slider asks again at every step; an answer that is no longer wanted is dropped.
  const slider = one("[data-slider] input");
  if (slider) {
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
  }
  for (const button of all("[data-keep-k]")) {
    button.addEventListener("click", attempt(async () => {
      await call("PATCH", `/p/${project}`, { settings: { ...JSON.parse(document.body.dataset.settings || "{}"), k: button.dataset.keepK } });
      location.assign(`/p/${project}/verdict`);
    }));
  }
})();
