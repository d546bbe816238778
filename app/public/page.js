// Lets the page follow every choice by itself, without losing place or focus; without this script a button does it.
// Addresses leave out what is chosen by default.
const PATIENCE = 350;
document.documentElement.classList.add("ib-scripted");

const addressOf = (form) => {
  const query = new URLSearchParams();
  for (const field of form.elements) {
    if (!field.name || (field.type === "radio" && !field.checked)) continue;
    if (field.value !== field.dataset.default) query.set(field.name, field.value);
  }
  return `${location.pathname}?${query}`;
};

let latest = 0;
const show = async (address) => {
  const mine = ++latest;
  document.documentElement.classList.add("ib-waiting");
  try {
    const answer = await fetch(address);
    const text = await answer.text();
    if (mine !== latest) return;
    const page = new DOMParser().parseFromString(text, "text/html");
    const focused = document.activeElement;
    const { name, value, type, selectionStart } = focused;
    for (const part of ["header", "main"]) document.querySelector(part).replaceWith(page.querySelector(part));
    document.title = page.title;
    const again = [...document.querySelectorAll("main [name]")].find((one) => one.name === name && (type !== "radio" || one.value === value));
    if (again) {
      if (type === "search") {
        again.value = value;
        again.setSelectionRange(selectionStart, selectionStart);
      }
      again.focus({ preventScroll: true });
    }
    document.dispatchEvent(new Event("ib-shown"));
    draw();
  } catch {
    location.assign(address);
  } finally {
    if (mine === latest) document.documentElement.classList.remove("ib-waiting");
  }
};

const follow = (form) => {
  const address = addressOf(form);
  if (address === location.pathname + location.search) return;
  history.pushState(null, "", address);
  show(address);
};

let typing;
document.addEventListener("change", (event) => {
  const form = event.target.closest(".ib-choices");
  if (form && event.target.type !== "search") follow(form);
});
document.addEventListener("input", (event) => {
  const form = event.target.closest(".ib-choices");
  if (!form || event.target.type !== "search") return;
  clearTimeout(typing);
  typing = setTimeout(() => follow(form), PATIENCE);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches(".ib-choices")) return;
  event.preventDefault();
  clearTimeout(typing);
  follow(event.target);
});
window.addEventListener("popstate", () => show(location.href));

const draw = async () => {
  const places = document.querySelectorAll("[data-picture]");
  if (!places.length) return;
  const { vegaEmbed } = await import(places[0].dataset.drawnBy);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  for (const place of places) {
    const options = { ast: true, actions: { source: false, compiled: false, editor: false }, renderer: "svg", config: { background: "transparent" } };
    await vegaEmbed(place, JSON.parse(place.dataset.picture), dark ? { ...options, theme: "dark" } : options);
  }
};
draw();
