// The messages of the conversation, the words marked in them, and what a rubric shows besides.

Object.assign(Desk.prototype, {
  message(turn) {
    const place = this.boxes.length;
    const box = make("div", { class: "ib-box", "data-message": place });
    if (this.data.formatted) {
      // Made on the server from the text alone: no raw HTML, no image, no link.
      const shown = make("div", { class: "ib-formatted", dir: "auto" });
      shown.innerHTML = turn.formatted;
      box.append(shown);
    }
    this.boxes.push(box);
    return box;
  },

  paintPassages() {
    if (this.data.formatted) return;
    this.boxes.forEach((box, message) => box.replaceChildren(
      verbatim(this.data.turns[message].text, this.passages.filter((one) => one.message === message))));
  },

  markPassage() {
    const selection = document.getSelection();
    if (!selection || selection.isCollapsed || this.data.formatted) {
      this.say("Select some words of one message first.");
      return;
    }
    const range = selection.getRangeAt(0);
    const text = range.startContainer.parentElement?.closest(".ib-text") ?? range.startContainer.closest?.(".ib-text");
    if (!text || !text.contains(range.endContainer)) {
      this.say("Select some words of one message, not of several.");
      return;
    }
    const message = Number(text.parentElement.dataset.message);
    const start = offsetInText(text, range.startContainer, range.startOffset);
    const end = offsetInText(text, range.endContainer, range.endOffset);
    const same = (one) => one.message === message && one.start < end && start < one.end;
    const overlapping = this.passages.some(same);
    this.passages = this.passages.filter((one) => !same(one));
    if (!overlapping) {
      const quote = [...this.data.turns[message].text].slice(start, end).join("");
      this.passages.push({ message, start, end, quote });
    }
    selection.removeAllRanges();
    this.paintPassages();
    this.changed();
  },

  disclosures() {
    return this.data.disclosed.map((one) => make("div", { class: "ib-disclosed" },
      make("h2", {}, one.title), make("p", { dir: "auto" }, one.text)));
  },
});
