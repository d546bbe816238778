// On a narrow screen the panel is a drawer: a bar at the bottom that opens by hand, and once when the end is reached.

const BAR = 60;

Object.assign(Desk.prototype, {
  drawer(...inside) {
    const body = make("div", { class: "ib-inside", id: `answer-${this.code}` }, ...inside);
    this.bar = make("button", { type: "button", class: "ib-bar", "aria-controls": body.id, onclick: () => this.slide(!this.drawn) },
      "Your answer ", make("span", { "aria-hidden": "true", class: "ib-arrow" }));
    return make("section", { class: "ib-panel", "aria-label": "Your rating" }, this.bar, body);
  },

  slide(drawn) {
    this.drawn = drawn;
    this.bar.parentElement.classList.toggle("ib-drawn", drawn);
    this.bar.setAttribute("aria-expanded", String(drawn));
  },

  watchEnd() {
    this.end?.disconnect();
    this.slide(this.drawn);
    if (this.read) return;
    this.end = new IntersectionObserver((seen) => {
      if (!seen.some((one) => one.isIntersecting)) return;
      this.end.disconnect();
      this.read = true;
      this.slide(true);
    }, { rootMargin: `0px 0px -${BAR}px 0px` });
    this.end.observe(this.root.querySelector(".ib-end"));
  },

  say(text) {
    this.slide(true);
    this.said.textContent = text;
    if (this.bar.offsetParent) this.said.scrollIntoView({ block: "nearest" });
  },
});
