// What the rubric asks: the verdict in one of its forms, its other questions, and what an answer still lacks.

Object.assign(Desk.prototype, {
  meanings() {
    const { asked } = this.data;
    if (this.data.elicitation === "none") return [make("p", { class: "ib-means", dir: "auto" }, make("strong", {}, "The behaviour it is about: "), asked.question)];
    const lines = [["Pass: ", asked.pass_means], ["Fail: ", asked.fail_means]];
    if (!this.sets) lines.push(["Borderline: ", "A pass and a fail could both be defended."]);
    return lines.map(([word, text]) => make("p", { class: "ib-means" }, make("strong", {}, word), text));
  },

  ask() {
    if (this.data.elicitation === "none") return make("div", { hidden: true });
    const lead = this.sets ? make("p", { class: "ib-ask" }, "Which verdicts could a competent colleague defend?") : null;
    return make("div", {}, ...(lead ? [lead] : []), this.verdicts, ...(this.sets ? [this.forcing] : []));
  },

  questions() {
    this.fields = this.data.questions.map((question) => {
      const id = `q-${this.code}-${question.id}`;
      const title = question.ask + (question.required ? " *" : "");
      const answer = (value) => { this.responses[question.id] = value; this.changed(); };
      let field;
      if (question.kind === "text") {
        const area = make("textarea", { id, rows: "2", dir: "auto", maxlength: "20000", oninput: (event) => answer(event.target.value) });
        area.value = this.responses[question.id] ?? "";
        field = make("div", { class: "ib-question-box" }, make("label", { for: id }, title), area);
      } else {
        const values = question.kind === "choice" ? question.options : Array.from({ length: question.highest - question.lowest + 1 }, (_, step) => question.lowest + step);
        field = make("fieldset", { class: "ib-question-box" }, make("legend", {}, title),
          make("div", { class: "ib-values" }, ...values.map((value) => make("button", {
            type: "button", "data-value": value, onclick: () => answer(this.responses[question.id] === value ? undefined : value),
          }, String(value)))),
          question.ends[0] ? make("small", {}, `${question.lowest} ${question.ends[0]} · ${question.highest} ${question.ends[1]}`) : null);
      }
      return { question, field };
    });
    return this.fields.map((one) => one.field);
  },

  due(question) {
    const { when } = question;
    if (!when) return true;
    const given = this.responses[when.question];
    if (given == null) return false;
    return (when.below != null && given < when.below) || when.among.includes(given);
  },

  force(option) {
    if (this.pending) return;
    this.forced = option;
    this.changed();
  },

  given() {
    const due = this.data.questions.filter((question) => this.due(question)).map((question) => question.id);
    return Object.fromEntries(due.filter((id) => this.responses[id] != null && this.responses[id] !== "").map((id) => [id, this.responses[id]]));
  },

  lacks() {
    if (this.reason) return "";
    if (!this.reasons.hidden) return "Choose a reason first.";
    if (this.data.elicitation !== "none" && !this.verdict) {
      return `Choose Pass, ${this.name("borderline")} or Fail first, or say that you can’t judge it.`;
    }
    if (this.sets && this.verdict === "borderline" && !this.forced) return "Say which you would choose if you had to.";
    const open = this.data.questions.find((question) => question.required && this.due(question) && !this.responses[question.id]);
    return open ? `Please answer: ${open.ask}` : "";
  },
});
