// What the desk sends. It goes straight to the address of the desk, one message after the other, until it is acknowledged;
// what cannot be settled there goes to the page. Each message says what it is about: sent twice, it is done once.

const ADDRESS = "/desk";
const UNHEARD_BEFORE_PAGE = 2;

Object.assign(Desk.prototype, {
  fromPage(data) {
    // A page that was opened or came back behind the desk may still show what the rater has left by now.
    const wanted = new URLSearchParams(location.search).get("item");
    if (this.code && data.code !== this.code && wanted && wanted !== data.code) return;
    this.show(data);
  },

  tell(kind, sent) {
    this.line = (this.line ?? Promise.resolve())
      .then(() => this.post(kind, sent))
      .then((answer) => this.hear(kind, sent, answer), () => this.unheard(kind, sent));
  },

  async post(kind, sent) {
    const body = JSON.stringify({ formatted: this.data.formatted, kind, ...sent });
    const reply = await fetch(ADDRESS, {
      method: "POST", headers: { "Content-Type": "application/json" }, body, credentials: "same-origin",
      keepalive: body.length < 20000, signal: AbortSignal.timeout(RESEND_AFTER),
    });
    if (reply.status >= 500) throw new Error(String(reply.status));
    return reply.headers.get("content-type")?.startsWith("application/json") ? reply.json() : { by_page: true };
  },

  hear(kind, sent, answer) {
    const current = sent.code === this.code;
    if (kind === "save") {
      if (!this.waitsFor(sent)) return;
      if (answer.by_page) this.send("save", { ...this.pending });
      else if (answer.refused) this.settle("", answer.refused);
      else this.turnTo(answer.show);
    } else if (kind === "draft") {
      if (this.unkept.get(sent.code) === sent) this.unkept.delete(sent.code);
      if (!current || this.pending) return;
      if (answer.by_page) this.send("draft", sent);
      else if (answer.refused) this.say(answer.refused);
      else this.data.draft_at = answer.draft_at;
      this.tellDraft();
    } else if (!this.pending) {
      if (answer.by_page) this.send(kind, sent);
      else this.turnTo(answer.show);
    }
  },

  unheard(kind, sent) {
    if (kind === "go" || kind === "view") this.send(kind, sent);
    if (kind !== "draft" || this.unkept.get(sent.code) !== sent) return;
    if (!this.pending) this.state.textContent = "No connection: what you write is not kept yet. Trying again; please leave this page open.";
    setTimeout(() => this.unkept.get(sent.code) === sent && this.tell("draft", sent), RESEND_AFTER);
  },

  turnTo(data) {
    this.settle("");
    if (data.code !== this.code) history.pushState({}, "", `?item=${encodeURIComponent(data.code)}`);
    this.show(data);
  },

  waitsFor(sent) {
    return Boolean(this.pending) && this.pending.code === sent.code && this.pending.base_revision === sent.base_revision;
  },

  keepDraft() {
    clearTimeout(this.draftTimer);
    if (!this.dirty || this.pending) return;
    this.dirty = false;
    const sent = { code: this.code, base_revision: this.data.base_revision, content: this.content() };
    this.unkept.set(this.code, sent);
    this.tell("draft", sent);
  },

  tellDraft() {
    const { saved_at: saved, draft_at: kept } = this.data;
    this.tellRest();
    if (this.pending) return;
    this.state.textContent = kept ? `draft kept ${clockTime(kept)}` : saved ? `saved ${clockTime(saved)}` : "";
  },

  save() {
    if (this.pending) return;
    const lacking = this.lacks();
    if (lacking) {
      this.say(lacking);
      return;
    }
    clearTimeout(this.draftTimer);
    this.dirty = false;
    this.unkept.delete(this.code);
    this.pending = { code: this.code, base_revision: this.data.base_revision, answer: this.content(), attempt: 0 };
    this.state.textContent = "Saving…";
    this.paint();
    this.attempt();
    this.resendTimer = setInterval(() => this.attempt(), RESEND_AFTER);
  },

  attempt() {
    this.pending.attempt += 1;
    if (this.pending.attempt > 1) this.state.textContent = "Not saved yet: no connection. Trying again; please leave this page open.";
    if (this.pending.attempt > UNHEARD_BEFORE_PAGE) this.send("save", { ...this.pending });
    this.tell("save", { ...this.pending });
  },

  settle(state, said) {
    clearInterval(this.resendTimer);
    this.pending = null;
    if (this.state) this.state.textContent = state;
    if (said) {
      this.say(said);
      this.dirty = true;
      this.paint();
    }
  },

  go(code) {
    if (!code || this.pending) return;
    this.keepDraft();
    this.tell("go", { code });
  },
});
