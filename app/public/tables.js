// Tables are sorted by the button in each head; long ones can be searched where the page has no search of its own.
(() => {
  const LONG = 30;

  const prepare = () => {
    for (const table of document.querySelectorAll(".ib-table:not([data-ready])")) {
      table.dataset.ready = "yes";
      const rows = table.tBodies[0].rows;
      if (rows.length < 2) continue;
      for (const head of table.tHead.rows[0].cells) {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...head.childNodes);
        head.append(button);
      }
      if (rows.length >= LONG && !document.querySelector(".ib-search")) offerSearch(table);
    }
  };

  const offerSearch = (table) => {
    const label = document.createElement("label"), field = document.createElement("input");
    label.className = "ib-find";
    field.type = "search";
    label.append("Show rows that contain ", field);
    table.parentElement.before(label);
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  };

  const keyOf = (row, place) => {
    const text = row.cells[place].textContent.trim();
    const number = parseFloat(text.replace(/^about /, "").replace(/(\d),(?=\d{3})/g, "$1"));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };

  const compare = (one, other) => {
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return one < other ? -1 : one > other ? 1 : 0;
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".ib-table thead button");
    if (!button) return;
    const head = button.parentElement, heads = [...head.parentElement.cells], body = head.closest("table").tBodies[0];
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const place = heads.indexOf(head), keyed = [...body.rows].map((row) => [keyOf(row, place), row]);
    keyed.sort(([one], [other]) => compare(one, other) * (up ? 1 : -1));
    body.append(...keyed.map(([, row]) => row));
  });

  document.addEventListener("ib-shown", prepare);
  prepare();
})();
