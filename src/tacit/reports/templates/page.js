"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

  const copy = async (code) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      const selection = getSelection();
      selection.selectAllChildren(code);
      return document.execCommand("copy");
    }
  };
  const enliven = (root) => {
    for (const box of all(".command", root)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      button.setAttribute("aria-live", "polite");
      button.addEventListener("click", async () => {
        button.textContent = (await copy(box.querySelector("code"))) ? "Copied" : "Selected";
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
      box.append(button);
    }

    for (const filter of all(".filter", root)) {
      const findings = all(".finding", filter.parentElement);
      const choices = all("select", filter);
      const fits = (finding) => choices.every((choice) => {
        const own = (finding.dataset[choice.dataset.filter] || "").split(" ");
        return !choice.value || own.includes(choice.value);
      });
      filter.addEventListener("change", () => {
        for (const finding of findings) finding.hidden = !fits(finding);
        const left = findings.filter((finding) => !finding.hidden).length;
        filter.querySelector("output").textContent = `${left} of ${findings.length} shown`;
      });
      filter.hidden = false;
    }
  };
  enliven(document);
  addEventListener("tacit:shown", (event) => enliven(event.target));

  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    for (let part = target; part; part = part.parentElement) {
      if (part.matches("details")) part.open = true;
      if (part.matches(".finding")) part.hidden = false;
    }
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  addEventListener("beforeprint", () => {
    for (const part of all("details")) part.open = true;
    for (const part of all(".finding")) part.hidden = false;
  });
})();
