// The page of an invoice as drawn, beside its fields. The drawing is in a frame that can do nothing else (frame.mjs); what comes from
// it are numbers and words, which are checked here and only ever shown as text. Without this script the fields say where they stand.
"use strict";

(() => {
  const figure = document.querySelector("figure.drawn");
  if (!figure) return;
  const patience = 60_000; // milliseconds for a page, before the frame is ended
  const mostWords = 4000;
  const part = (name) => figure.querySelector("[data-part=" + name + "]");
  const sheet = part("sheet"), box = part("box"), list = part("words"), offers = part("offers"), choice = part("field");
  const form = document.querySelector("form.correct");

  let frame, bytes, timer, shown = 0, pages = 0, place = null, turned = null, words = [], at = -1;

  function send(message, transfer = []) {
    clearTimeout(timer);
    timer = setTimeout(() => fail("slow"), patience);
    figure.setAttribute("aria-busy", "true");
    frame.contentWindow.postMessage(message, "*", transfer); // The frame has no origin to name.
  }

  function fail(why) {
    clearTimeout(timer);
    frame?.remove();
    frame = null;
    figure.removeAttribute("aria-busy");
    figure.dataset.state = "failed";
    for (const one of [sheet, part("pager"), part("how"), offers]) one.hidden = true;
    (figure.querySelector(`[data-why="${why}"]`) ?? figure.querySelector("[data-why=broken]")).hidden = false;
  }

  async function begin() {
    figure.hidden = false;
    document.querySelector(".invoice").classList.add("with-page");
    for (const button of document.querySelectorAll("button.place[hidden]")) button.hidden = false;
    try {
      const answer = await fetch(figure.dataset.file);
      if (!answer.ok) return fail("away");
      bytes = await answer.arrayBuffer();
    } catch {
      return fail("away");
    }
    frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.title = figure.dataset.title;
    frame.tabIndex = -1;
    frame.src = figure.dataset.frame;
    timer = setTimeout(() => fail("slow"), patience);
    sheet.prepend(frame);
  }

  addEventListener("message", ({ source, data }) => {
    if (!frame || source !== frame.contentWindow || typeof data !== "object" || data === null) return;
    if (data.kind === "ready" && bytes) {
      const given = bytes;
      bytes = null;
      send({ kind: "open", bytes: given, number: place?.page ?? 1 }, [given]);
    } else if (data.kind === "drawn") drawn(data);
    else if (data.kind === "failed") fail(String(data.why).replace(/\W/g, ""));
  });

  const between = (least, value, most) => Math.min(Math.max(least, Number(value) || 0), most);

  function drawn(page) {
    clearTimeout(timer);
    figure.removeAttribute("aria-busy");
    pages = Math.trunc(between(1, page.pages, 1e6));
    shown = Math.trunc(between(1, page.number, pages));
    sheet.style.setProperty("--ratio", between(0.1, page.width / page.height, 10));
    part("number").textContent = figure.dataset.number.replace("{0}", shown).replace("{1}", pages);
    part("previous").disabled = shown === 1;
    part("next").disabled = shown === pages;
    part("pager").hidden = pages === 1;
    showWords(Array.isArray(page.words) ? page.words.slice(0, mostWords) : []);
    showBox();
    figure.dataset.state = "drawn";
    figure.dataset.shown = shown;
    if (place !== turned && place.page !== shown) turn(place.page); // Asked for while another page was drawn.
  }

  function turn(number) {
    turned = place;
    if (frame && shown && number >= 1 && number <= pages) send({ kind: "page", number });
  }
  const leaf = (by) => {
    place = null;
    turn(shown + by);
  };
  part("previous").addEventListener("click", () => leaf(-1));
  part("next").addEventListener("click", () => leaf(1));

  function lay(element, { left, top, right, bottom }) {
    const percent = (value) => between(0, value, 1) * 100 + "%";
    element.style.left = percent(left);
    element.style.top = percent(top);
    element.style.width = percent(right - left);
    element.style.height = percent(bottom - top);
  }

  // What has a place shows it when it is entered or pressed; the window moves to it only for who asked for that.
  function showBox() {
    box.hidden = !place || place.page !== shown;
    if (!box.hidden) lay(box, place);
  }
  function show(event) {
    const stated = event.target.closest?.("[data-place]")?.dataset.place;
    if (!stated) return;
    const [page, ...parts] = stated.split(" ").map(Number);
    const [left, top, right, bottom] = parts.map((value) => value / 10_000);
    place = { page, left, top, right, bottom };
    if (page === shown) showBox();
    else turn(page);
    if (event.type === "click" && event.target.closest("button.place")) sheet.scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("focusin", show);
  document.addEventListener("click", show);

  // The words lie over the page as a list to choose from: by a click, or by arrow keys and Enter.
  function showWords(all) {
    at = -1;
    list.removeAttribute("aria-activedescendant");
    words = all.map((word, index) => {
      const element = document.createElement("span");
      element.id = "word-" + index;
      element.role = "option";
      const text = String(word?.text).slice(0, 200);
      element.setAttribute("aria-label", text);
      element.setAttribute("aria-selected", "false");
      const [left, top, right, bottom] = [word?.left, word?.top, word?.right, word?.bottom].map((value) => between(0, value, 1));
      lay(element, { left, top, right, bottom });
      return { element, text, left, top, right, bottom };
    });
    list.replaceChildren(...words.map((word) => word.element));
    list.hidden = part("how").hidden = offers.hidden = !form || words.length === 0;
    offer();
  }
  function choose(index) {
    words[at]?.element.setAttribute("aria-selected", "false");
    at = index;
    words[at].element.setAttribute("aria-selected", "true");
    list.setAttribute("aria-activedescendant", words[at].element.id);
    words[at].element.scrollIntoView({ block: "nearest", inline: "nearest" });
    offer();
  }
  list.addEventListener("click", (event) => {
    const index = words.findIndex((word) => word.element === event.target);
    if (index >= 0) choose(index);
  });
  list.addEventListener("keydown", (event) => {
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: words.length - 1 }[event.key];
    if (next === undefined) return;
    choose(between(0, next, words.length - 1));
    event.preventDefault();
  });
  // When the key comes up: what gets the focus while it goes down would be pressed by it, too.
  list.addEventListener("keyup", (event) => {
    if (event.key === "Enter" && at >= 0) (part("given").firstElementChild ?? choice).focus();
  });

  // A word is offered alone and with its line, as the field takes it.
  const sameLine = (one, other) => Math.abs(one.top + one.bottom - other.top - other.bottom) < one.bottom - one.top;
  function offer() {
    const given = part("given");
    given.replaceChildren();
    part("none").hidden = true;
    if (at < 0) return;
    const line = words.filter((word) => sameLine(words[at], word)).sort((a, b) => a.left - b.left).map((word) => word.text).join(" ");
    const input = form.elements[choice.value];
    const values = [...new Set([words[at].text, line].map((text) => asTyped(text, input)))].filter((value) => value);
    for (const value of values) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "take";
      button.dataset.field = choice.value;
      button.dataset.value = button.textContent = value;
      const { left, top, right, bottom } = words[at];
      button.dataset.place = [shown, ...[left, top, right, bottom].map((part) => Math.round(part * 10_000))].join(" ");
      given.append(button);
    }
    part("none").hidden = values.length > 0;
  }
  choice?.addEventListener("change", offer);
  form?.addEventListener("focusin", (event) => {
    if (![...choice.options].some((option) => option.value === event.target.name)) return;
    choice.value = event.target.name;
    offer();
  });

  // Printed text as a field takes it: days as the browser has them, amounts with the mark of the person's language; "" where it is none.
  function asTyped(text, input) {
    if (input.type === "date") return day(text);
    if (input.classList.contains("typed-amount")) return amount(text);
    return text.slice(0, input.maxLength).trim();
  }
  function day(text) {
    const sorted = text.match(/\b(\d{4})-(\d\d)-(\d\d)\b/), usual = text.match(/\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4}|\d\d)\b/);
    const [year, month, date] = sorted?.slice(1) ?? usual?.slice(1).reverse() ?? [];
    if (!year) return "";
    const stated = [year.padStart(4, "20"), month.padStart(2, "0"), date.padStart(2, "0")].join("-");
    return new Date(stated + "T00:00:00Z").toJSON()?.startsWith(stated) ? stated : "";
  }
  function amount(text) {
    const found = [...text.matchAll(/[-\u2212]?\d[\d.,'\u2019]*(?: \d{3}\b[\d.,]*)*/g)].at(-1)?.[0];
    if (!found) return "";
    const [, sign, whole, fraction] = found.match(/^([-\u2212]?)(.*?)(?:[.,](\d{1,2}))?[.,]?$/);
    const digits = whole.replace(/\D/g, "");
    return digits && (sign && "-") + digits + (fraction ? figure.dataset.decimal + fraction : "");
  }

  begin();
})();
