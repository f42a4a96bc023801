/* Browsers do not start a worker from a page that was opened as a file. There, a hidden frame runs the worker's script instead. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      (document.body || document.documentElement).append(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => this.answer(data);
      inner.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => this.load(source)), Promise.resolve());
      this.load(url).then(() => {
        this.waiting.forEach((data) => this.ask(data));
        this.waiting = null;
      });
    }
    load(source) {
      return new Promise((done, failed) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = source;
        script.onload = done;
        script.onerror = failed;
        this.frame.contentDocument.body.append(script);
      });
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.ask(data);
    }
    ask(data) {
      const inner = this.frame.contentWindow;
      inner.dispatchEvent(new inner.MessageEvent("message", { data }));
    }
    answer(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
