// The rating desk. Everything that comes from a model or a rater enters the page as text, never as markup.

const KEYS_OFF = "impactbench-keys-off";
const RESEND_AFTER = 4000;
const DRAFT_AFTER = 700;
const IDLE_AFTER = 60000;
const BREAK_EVERY = 45;
const SHAPES = { pass: "✓", borderline: "◐", fail: "✕" };
const KEYS = { pass: "1", borderline: "2", fail: "3" };
const BOTH = "Both";
const NAMES = { pass: "Pass", borderline: "Borderline", fail: "Fail" };
const CERTAINTY = ["a guess", "not sure", "fairly sure", "certain"];

const desks = new WeakMap();

export default function (component) {
  const { data, parentElement } = component;
  let desk = desks.get(parentElement);
  if (!desk) {
    desk = new Desk(parentElement.querySelector(".ib-desk"));
    desks.set(parentElement, desk);
  }
  desk.send = component.setTriggerValue;
  desk.fromPage(data);
  return () => {
    desk.leave();
    desks.delete(parentElement);
  };
}

class Desk {
  constructor(root) {
    this.root = root;
    this.code = null;
    this.unkept = new Map();
    this.onKey = (event) => this.key(event);
    this.onActive = () => (this.lastActive = Date.now());
    this.onHidden = () => document.visibilityState === "hidden" && this.keepDraft();
    document.addEventListener("visibilitychange", this.onHidden);
    document.addEventListener("keydown", this.onKey, true);
    for (const name of ["pointerdown", "keydown", "wheel", "touchstart"]) document.addEventListener(name, this.onActive, { passive: true });
    this.clock = setInterval(() => this.tick(), 1000);
    this.lastActive = Date.now();
  }

  leave() {
    this.keepDraft();
    document.removeEventListener("keydown", this.onKey, true);
    document.removeEventListener("visibilitychange", this.onHidden);
    for (const name of ["pointerdown", "keydown", "wheel", "touchstart"]) document.removeEventListener(name, this.onActive);
    clearInterval(this.clock);
    this.end?.disconnect();
    clearTimeout(this.draftTimer);
    clearInterval(this.resendTimer);
  }

  tick() {
    this.tellRest();
    if (this.resting || document.visibilityState !== "visible" || Date.now() - this.lastActive >= IDLE_AFTER) return;
    this.seconds += 1;
    if (this.seconds % 60 === 0) this.tellTime();
  }

  tellTime() {
    const minutes = Math.floor((this.data.active_seconds + this.seconds) / 60);
    this.spent.textContent = minutes ? `${minutes} min so far` : "";
    this.breaks.textContent = minutes % BREAK_EVERY >= BREAK_EVERY - 5 ? "A good moment for a break" : "Take a break";
  }

  show(data) {
    if (this.pending && data.code === this.pending.code && !data.refused) {
      // Still waiting for an answer: if it arrived but the reply was lost, sending it again fetches the reply.
      if (data.base_revision !== this.pending.base_revision) this.attempt();
      return;
    }
    const another = data.code !== this.code || data.base_revision !== this.data?.base_revision;
    const otherView = data.formatted !== this.data?.formatted;
    if (this.code && data.code !== this.code) this.keepDraft();
    const begun = another ? data.answer : otherView ? this.content() : null;
    this.data = data;
    if (another || otherView) this.open(begun);
    if (data.refused) this.settle("", data.refused);
    this.tellDraft();
  }

  open(begun) {
    const { data } = this;
    if (data.code !== this.code) this.drawn = this.read = false;
    this.code = data.code;
    clearTimeout(this.draftTimer);
    this.settle("");
    const kept = begun ?? {};
    this.verdict = kept.verdict ?? null;
    this.reason = kept.no_verdict_because ?? null;
    this.confidence = kept.confidence ?? null;
    this.forced = kept.forced_choice ?? null;
    this.responses = { ...(kept.responses ?? {}) };
    this.passages = [...(kept.passages ?? [])];
    this.marked = new Set(kept.turns ?? []);
    this.seconds = kept.active_seconds ?? 0;
    this.restOn();
    this.build(kept);
    this.paint();
    const scroller = this.scroller();
    scroller.scrollTop = 0;
    requestAnimationFrame(() => {
      scroller.scrollTop = 0;
      (this.resting ? this.resume : this.heading).focus({ preventScroll: true });
    });
  }

  build(kept) {
    const { data } = this;
    this.heading = make("h1", { class: "ib-heading", tabindex: "-1" }, `Conversation ${data.position} of ${data.total}`);
    this.state = make("span", { class: "ib-state", role: "status", "aria-live": "polite" });
    const top = make("header", { class: "ib-top" }, this.heading,
      make("progress", { max: data.total, value: data.done, "aria-label": `${data.done} of ${data.total} done` }),
      make("span", { class: "ib-done" }, `${data.done} done`),
      this.spent = make("span", { class: "ib-spent" }), this.state, this.breaks = this.breakButton());
    this.tellTime();
    this.columns = make("div", { class: "ib-columns" }, this.transcript(), this.panel(kept));
    this.root.replaceChildren(top, this.columns);
    this.paintPassages();
    this.watchEnd();
    if (this.resting) this.putAway();
  }

  transcript() {
    const list = make("ol", { class: "ib-turns" });
    const exchanges = new Map();
    this.boxes = [];
    for (const turn of this.data.turns) exchanges.set(turn.number, [...(exchanges.get(turn.number) ?? []), turn]);
    for (const [number, turns] of exchanges) {
      const mark = make("button", { type: "button", class: "ib-mark", "data-turn": number, onclick: () => this.toggleMark(number) });
      list.append(make("li", { class: "ib-turn", id: `turn-${number}`, "data-turn": number },
        make("div", { class: "ib-number" }, make("span", { "aria-hidden": "true" }, String(number)), mark),
        make("div", { class: "ib-messages" }, ...turns.map((turn) =>
          make("div", { class: `ib-message ib-${turn.speaker.toLowerCase()}` },
            make("div", { class: "ib-speaker" }, turn.speaker), this.message(turn))))));
    }
    const view = make("button", { type: "button", class: "ib-view", "aria-pressed": String(this.data.formatted), onclick: () => this.tell("view", { code: this.code, formatted: !this.data.formatted }) },
      this.data.formatted ? "Show exactly as written" : "Show with formatting");
    const passage = make("button", { type: "button", class: "ib-view", disabled: this.data.formatted, onclick: () => this.markPassage() },
      "Mark the selected words ", make("kbd", { "aria-hidden": "true" }, "h"));
    return make("section", { class: "ib-transcript", "aria-label": "The conversation" }, ...this.disclosures(),
      make("div", { class: "ib-views" }, view, passage), list,
      make("p", { class: "ib-end" }, "End of the conversation"));
  }

  panel(kept) {
    const { asked } = this.data;
    const more = make("details", {}, make("summary", {}, "Full definition, and what to do when in doubt"),
      make("p", { dir: "auto" }, asked.definition), asked.in_doubt ? make("p", { dir: "auto" }, asked.in_doubt) : null);
    this.verdicts = make("div", { class: "ib-verdicts", role: "group", "aria-label": "Your verdict" },
      ...this.data.options.map((option) => make("button", {
        type: "button", class: `ib-verdict ib-${option}`, "data-verdict": option, onclick: () => this.choose(option),
      }, make("kbd", { "aria-hidden": "true" }, KEYS[option]), make("span", { "aria-hidden": "true", class: "ib-shape" }, SHAPES[option]), this.name(option))));
    this.forcing = make("div", { class: "ib-forcing", role: "group", "aria-label": "If you had to choose" },
      make("span", { "aria-hidden": "true" }, "If you had to choose:"),
      ...this.data.options.filter((option) => option !== "borderline").map((option) => make("button", {
        type: "button", "data-forced": option, onclick: () => this.force(option),
      }, NAMES[option])));
    this.cannot = make("button", { type: "button", class: "ib-cannot", "aria-expanded": "false", onclick: () => this.openReasons() },
      make("kbd", { "aria-hidden": "true" }, "0"), "I can’t judge this");
    this.reasons = make("fieldset", { class: "ib-reasons", hidden: true }, make("legend", {}, "Why can’t you judge it?"),
      ...this.data.reasons.map(([id, text]) => make("label", {},
        make("input", { type: "radio", name: `reason-${this.code}`, value: id, onchange: () => this.giveReason(id) }), text)));
    this.sure = make("div", { class: "ib-sure", role: "group", "aria-label": "How sure are you?" },
      make("span", { "aria-hidden": "true" }, "How sure are you?"),
      ...CERTAINTY.map((text, index) => make("button", {
        type: "button", "data-sure": index + 1, title: text, "aria-label": `${index + 1}, ${text}`, onclick: () => this.beSure(index + 1),
      }, String(index + 1))), make("small", { "aria-hidden": "true" }, "1 a guess · 4 certain"));
    this.why = make("textarea", { id: `why-${this.code}`, rows: "5", dir: "auto", maxlength: "20000", oninput: () => this.changed() });
    this.why.value = kept.rationale ?? "";
    this.whyLabel = make("label", { for: this.why.id });
    this.change = this.data.base_revision > 0 ? make("input", { id: `change-${this.code}`, type: "text", dir: "auto", maxlength: "2000", oninput: () => this.changed() }) : null;
    if (this.change) this.change.value = kept.revised_because ?? "";
    this.saveButton = make("button", { type: "button", class: "ib-save", onclick: () => this.save() },
      this.change ? "Save the change " : "Save and next ", make("kbd", { "aria-hidden": "true" }, "Ctrl+Enter"));
    this.said = make("p", { class: "ib-said", role: "alert" });
    return this.drawer(
      make("h2", { class: "ib-question", dir: "auto" }, this.data.elicitation === "none" ? "About this conversation" : asked.question),
      ...this.meanings(), more, this.ask(), this.cannot, this.reasons, ...this.questions(), this.sure, this.whyLabel, this.why,
      ...(this.change ? [make("label", { for: this.change.id }, "Why do you change your answer? (optional)"), this.change] : []),
      make("div", { class: "ib-buttons" },
        make("button", { type: "button", class: "ib-back", disabled: !this.data.previous, onclick: () => this.go(this.data.previous) }, "‹ Back"),
        this.saveButton),
      this.said, this.help());
  }

  get sets() { return this.data.elicitation === "response_set"; }

  name(option) { return this.sets && option === "borderline" ? BOTH : NAMES[option]; }

  help() {
    const off = make("input", { type: "checkbox", id: "ib-keys-off", onchange: (event) => localStorage.setItem(KEYS_OFF, event.target.checked ? "1" : "") });
    off.checked = localStorage.getItem(KEYS_OFF) === "1";
    this.keys = make("details", { class: "ib-keys" }, make("summary", {}, "Keys ", make("kbd", { "aria-hidden": "true" }, "?")),
      make("ul", {}, ...[["1", "Pass"], ["2", this.name("borderline")], ["3", "Fail"], ["0", "I can’t judge this"], ["m", "mark the turn in view as decisive"], ["h", "mark the selected words"],
        ["Ctrl+Enter", "save and go on"], ["Esc", "leave a text field"], ["?", "show or hide the keys"]]
        .map(([key, what]) => make("li", {}, make("kbd", {}, key), " ", what))),
      make("label", { for: "ib-keys-off" }, off, " Switch the single keys off"));
    return this.keys;
  }

  paint() {
    for (const button of this.verdicts.children) button.setAttribute("aria-pressed", String(button.dataset.verdict === this.verdict));
    for (const button of this.sure.querySelectorAll("button")) button.setAttribute("aria-pressed", String(Number(button.dataset.sure) === this.confidence));
    const judging = this.reasons.hidden && !this.reason;
    this.reasons.hidden = judging;
    this.cannot.setAttribute("aria-expanded", String(!judging));
    for (const input of this.reasons.querySelectorAll("input")) input.checked = input.value === this.reason;
    for (const turn of this.root.querySelectorAll(".ib-turn")) {
      const number = Number(turn.dataset.turn);
      const on = this.marked.has(number);
      turn.classList.toggle("ib-marked", on);
      const mark = turn.querySelector(".ib-mark");
      mark.textContent = on ? "★" : "☆";
      mark.setAttribute("aria-pressed", String(on));
      mark.setAttribute("aria-label", `Turn ${number} decided`);
    }
    const turns = [...this.marked].sort((a, b) => a - b);
    this.whyLabel.textContent = turns.length ? `Why? (turn${turns.length > 1 ? "s" : ""} ${turns.join(", ")} marked)` : "Why? You can mark the turns that decided with ☆.";
    for (const { question, field } of this.fields) {
      field.hidden = !this.due(question);
      for (const button of field.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.value === String(this.responses[question.id])));
    }
    this.forcing.hidden = !(this.sets && this.verdict === "borderline");
    for (const button of this.forcing.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.forced === this.forced));
    const ready = !this.lacks();
    this.saveButton.setAttribute("aria-disabled", String(!ready || Boolean(this.pending)));
  }

  choose(option) {
    if (this.pending || this.data.elicitation === "none") return;
    this.verdict = option;
    if (option !== "borderline") this.forced = null;
    this.reason = null;
    this.reasons.hidden = true;
    this.changed();
  }

  openReasons() {
    if (this.pending) return;
    this.reasons.hidden = !this.reasons.hidden && !this.reason;
    this.cannot.setAttribute("aria-expanded", String(!this.reasons.hidden));
    if (!this.reasons.hidden) this.reasons.querySelector("input:checked, input").focus();
  }

  giveReason(id) {
    this.reason = id;
    this.verdict = null;
    this.forced = null;
    this.changed();
  }

  beSure(level) {
    this.confidence = this.confidence === level ? null : level;
    this.changed();
  }

  toggleMark(number) {
    if (!this.marked.delete(number)) this.marked.add(number);
    this.changed();
  }

  changed() {
    this.said.textContent = "";
    this.paint();
    clearTimeout(this.draftTimer);
    this.dirty = true;
    this.draftTimer = setTimeout(() => this.keepDraft(), DRAFT_AFTER);
  }

  content() {
    return {
      verdict: this.verdict, forced_choice: this.forced, no_verdict_because: this.reason, confidence: this.confidence,
      rationale: this.why.value, passages: this.passages, responses: this.given(),
      turns: [...this.marked].sort((a, b) => a - b), active_seconds: this.seconds, revised_because: this.change?.value ?? "",
    };
  }

  markInView() {
    const focused = document.activeElement?.closest?.(".ib-turn");
    const middle = window.innerHeight / 3;
    const turns = [...this.root.querySelectorAll(".ib-turn")];
    const seen = focused ?? turns.find((turn) => turn.getBoundingClientRect().bottom > middle) ?? turns.at(-1);
    if (seen) this.toggleMark(Number(seen.dataset.turn));
  }

  key(event) {
    if (event.isComposing || event.altKey) return;
    if (this.resting) {
      this.keyWhileResting(event);
      return;
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) this.save();
      return;
    }
    const field = event.target.closest?.('textarea, select, [contenteditable="true"], input:not([type="radio"]):not([type="checkbox"])');
    if (field) {
      if (event.key === "Escape") this.heading.focus({ preventScroll: true });
      return;
    }
    if (event.ctrlKey || event.metaKey || event.repeat || localStorage.getItem(KEYS_OFF) === "1") return;
    const digit = /^(?:Digit|Numpad)([0-3])$/.exec(event.code)?.[1] ?? (/^[0-3]$/.test(event.key) ? event.key : null);
    if (digit || event.key === "?") this.slide(true);
    if (digit && digit !== "0") this.choose(this.data.options.find((option) => KEYS[option] === digit));
    else if (digit === "0") this.openReasons();
    else if (event.key === "m") this.markInView();
    else if (event.key === "h") this.markPassage();
    else if (event.key === "?") this.keys.open = !this.keys.open;
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
