// Helpers of all screens: requests, messages, and the answer of the screen's command.
import { WORDS } from "/static/words.js";

const policy = window.trustedTypes ? trustedTypes.createPolicy("tacit", { createHTML: (text) => text }) : { createHTML: (text) => text };
const says = document.querySelector("#says");

export const { project, screen } = document.body.dataset;
export const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
export const one = (selector, inside = document) => inside.querySelector(selector);
export const wait = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
export const fields = (form) => Object.fromEntries(all("[name]", form).map((field) => [field.name, field.value]));

export const say = (text) => {
  says.textContent = text;
  says.hidden = !text;
};
// For a moment only, if nothing else is said.
export const saySoftly = async (text) => {
  say(text);
  await wait(4000);
  if (says.textContent === text) say("");
};

export const call = async (method, address, body, signal) => {
  const isFile = body instanceof Blob;
  let answer;
  try {
    answer = await fetch(address, { method, signal, body: isFile || body === undefined ? body : JSON.stringify(body),
      headers: isFile ? { "Content-Type": "application/octet-stream" } : { "Content-Type": "application/json" } });
  } catch (failure) {
    if (failure.name === "AbortError") throw failure;
    throw new Error(WORDS.noServer);
  }
  const told = await answer.json().catch(() => ({ error: WORDS.noAnswer }));
  if (!answer.ok) throw new Error(told.error || WORDS.failed);
  return told;
};

export const change = (parts) => call("PATCH", `/p/${project}`, parts);

export const attempt = (work) => async (event) => {
  try {
    await work(event);
  } catch (failure) {
    if (failure.name !== "AbortError") say(failure.message);
  }
};

// Replaces what a region holds by markup of this server.
export const fill = (region, markup) => {
  const fresh = new DOMParser().parseFromString(policy.createHTML(markup), "text/html");
  region.replaceChildren(...fresh.body.childNodes);
  region.dispatchEvent(new Event("tacit:shown", { bubbles: true }));
};

// Replaces a region by what the page at an address has in its place.
export const show = async (address, region, signal) => {
  const page = await (await fetch(address, { signal })).text();
  const fresh = new DOMParser().parseFromString(policy.createHTML(page), "text/html");
  const focused = region.contains(document.activeElement) ? document.activeElement.id : "";
  region.replaceChildren(...one(`#${region.id}`, fresh).childNodes);
  if (focused) document.getElementById(focused)?.focus();
  region.dispatchEvent(new Event("tacit:shown", { bubbles: true }));
};

// Asks for the answer of a screen with the settings of an address, and watches it to its end.
export const asked = () => ({ screen, ...Object.fromEntries(new URLSearchParams(location.search)) });
export const answered = async (onProgress, signal, more = {}) => {
  let told = await call("POST", `/p/${project}/run`, { ...asked(), ...more }, signal);
  for (let rest = 20; !told.is_over; rest = Math.min(500, rest * 1.6)) {
    await wait(rest);
    signal?.throwIfAborted();
    told = await call("GET", `/p/${project}/jobs/${told.job}`, undefined, signal);
    onProgress(told);
  }
  return told;
};
