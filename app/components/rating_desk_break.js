// A break: the conversation is put away behind a plain screen, and the time is not counted until the rater goes on.
// The tab keeps the break, so that it outlasts a reload; it is over where the tab comes back to another conversation.

const BREAK = "impactbench-break";
const BREAK_HINT = "Keeps what you wrote and puts the conversation away until you go on. The time of a break is not counted.";
const clockTime = (moment) => new Date(moment).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const dayAndTime = (moment) => {
  const day = new Date(moment);
  const today = day.toDateString() === new Date().toDateString();
  return today ? clockTime(day) : `${day.toLocaleDateString([], { day: "numeric", month: "short" })}, ${clockTime(day)}`;
};

Object.assign(Desk.prototype, {
  scroller() { return this.root.closest('[data-testid="stMain"]') ?? document.scrollingElement; },

  breakButton() {
    return make("button", { type: "button", class: "ib-view", title: BREAK_HINT, onclick: () => this.takeBreak() });
  },

  takeBreak() {
    this.keepDraft();
    this.resting = {
      since: Date.now(), code: this.code, revision: this.data.base_revision, top: this.scroller().scrollTop, seconds: this.seconds,
    };
    this.keepRest();
    this.putAway();
  },

  keepRest() {
    if (this.resting) sessionStorage.setItem(BREAK, JSON.stringify(this.resting));
    else sessionStorage.removeItem(BREAK);
  },

  // Before a conversation is shown. A break follows an answer that was still on its way to what comes after it.
  restOn() {
    const kept = this.resting ?? JSON.parse(sessionStorage.getItem(BREAK));
    const here = kept?.code === this.code;
    const revision = this.data.base_revision;
    if (here && kept.revision === revision) {
      this.resting = kept;
      this.seconds = Math.max(this.seconds, kept.seconds);
    } else if (here || this.resting) {
      this.resting = { ...kept, code: this.code, revision, top: here ? kept.top : 0, seconds: 0 };
    }
    this.keepRest();
  },

  putAway() {
    const said = make("div", { id: "ib-rest-said" }, ...[1, 2, 3].map(() => make("p")));
    this.restSaid = said.children;
    this.resume = make("button", { type: "button", class: "ib-save", "aria-describedby": said.id, onclick: () => this.goOn() }, "Go on");
    this.rest = make("section", { class: "ib-rest", "aria-labelledby": "ib-rest-title" },
      make("h2", { id: "ib-rest-title" }, "You are on a break"), said, this.resume);
    this.root.append(this.rest);
    this.hideWhileResting();
    this.tellRest();
    this.resume.focus();
  },

  hideWhileResting() {
    for (const part of [this.columns, this.breaks]) part.hidden = Boolean(this.resting);
  },

  tellRest() {
    if (!this.resting) return;
    const { total, done, practice, draft_at: begun, saved_at: saved } = this.data;
    const left = total - done;
    const kept = begun ?? saved;
    const texts = [`Since ${dayAndTime(this.resting.since)}. This time is not counted.`,
      practice ? "A practice is not kept: what you began stays here while this page is open."
        : this.pending || this.dirty || this.unkept.size ? "What you wrote is being kept; please leave this page open."
        : `Everything is kept${kept ? `, last at ${clockTime(kept)}` : ""}.`,
      left ? `${left} of ${total} conversations ${left === 1 ? "is" : "are"} left.` : `All ${total} conversations are answered.`];
    texts.forEach((text, place) => this.restSaid[place].textContent !== text && (this.restSaid[place].textContent = text));
  },

  goOn() {
    const { top } = this.resting;
    this.resting = null;
    this.keepRest();
    this.rest.remove();
    this.hideWhileResting();
    this.onActive();
    this.scroller().scrollTop = top;
    this.heading.focus({ preventScroll: true });
  },

  keyWhileResting(event) {
    const here = event.target === document.body || this.root.contains(event.target);
    if (!here || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) this.goOn();
  },
});
