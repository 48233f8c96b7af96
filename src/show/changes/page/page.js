"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  for (const element of all(".search, .keys")) element.hidden = false;

  // What was chosen is kept where the browser lets a page keep anything.
  const kept = {
    get: (name) => { try { return localStorage.getItem("git-hydrate." + name); } catch { return null; } },
    set: (name, value) => { try { localStorage.setItem("git-hydrate." + name, value); } catch { /* not kept */ } },
  };
  for (const name of ["view", "theme"]) {
    const chosen = document.getElementById(kept.get(name) ?? "");
    if (chosen?.name === name) chosen.checked = true;
    for (const radio of all(`input[name=${name}]`)) radio.addEventListener("change", () => kept.set(name, radio.id));
  }

  const applications = all(".application");
  const dangerous = all(".object").filter((element) => element.querySelector(".tag.danger"));
  // What holds objects is hidden with the last of them.
  const folds = ".noise, .alike";
  const holders = all(`${folds}, .application, section.environment`);
  const links = all("nav a").map((link) => {
    const target = document.getElementById(link.hash.slice(1));
    return { item: link.parentElement, holder: target?.closest(".application, section.environment") };
  });
  const titles = new Map(applications.map((element) => [element, element.querySelector(":scope > summary").textContent]));
  const objects = all(".object").map((element) => {
    const around = [];
    for (let up = element.parentElement; up; up = up.parentElement) if (up.matches(`${folds}, .application, section.environment`)) around.push(up);
    return { element, around, text: null };
  });
  const text = (object) => object.text ??= (
    (titles.get(object.around.find((element) => titles.has(element))) ?? "") + " " + object.element.textContent
  ).toLowerCase();
  window.requestIdleCallback?.(() => objects.forEach(text));
  const hide = (element, hidden) => { if (element.hidden !== hidden) element.hidden = hidden; };
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = objects.filter((object) => words.every((word) => text(object).includes(word)));
    const shown = new Set(matching.flatMap((object) => [object.element, ...object.around]));
    for (const object of objects) hide(object.element, !shown.has(object.element));
    for (const holder of holders) {
      hide(holder, words.length > 0 && !shown.has(holder));
      if (words.length && holder.matches(folds)) holder.open = !holder.hidden;
    }
    for (const link of links) hide(link.item, Boolean(link.holder?.hidden));
    found.textContent = words.length ? `${matching.length} of ${objects.length}` : "";
    document.getElementById("nothing").hidden = matching.length > 0 || !words.length;
  };
  search.addEventListener("input", show);

  // What was gone to last, until somebody scrolls. Places shift while the page is laid out, so it counts and not they.
  let gone = null;
  for (const type of ["wheel", "touchmove", "pointerdown"]) document.addEventListener(type, () => { gone = null; }, { passive: true });
  const go = (element) => {
    if (!element) return;
    for (const folded of all(".alike:not([open])")) folded.open = folded.contains(element);
    gone = element;
    element.focus({ preventScroll: true });
    const there = () => { if (gone === element) element.scrollIntoView({ block: "start", behavior: "instant" }); };
    there();
    requestAnimationFrame(() => { there(); requestAnimationFrame(there); });
  };
  const step = (by) => {
    const shown = applications.filter((application) => application.checkVisibility());
    const at = shown.indexOf(gone?.closest(".application"));
    const top = document.querySelector("header").getBoundingClientRect().bottom + 20;
    const tops = at < 0 ? shown.map((application) => application.getBoundingClientRect().top) : [];
    const next = at >= 0 ? at + by : by > 0 ? tops.findIndex((place) => place > top) : tops.findLastIndex((place) => place < top - 30);
    go(shown[next]?.querySelector("summary"));
  };
  // What is far away has no place on the page yet, so the order of the document counts.
  const danger = (by) => {
    const shown = dangerous.filter((element) => !element.closest("[hidden]")).map((element) => element.querySelector("summary"));
    const is = (side) => (element) => document.activeElement.compareDocumentPosition(element) & side;
    go(by > 0 ? shown.find(is(Node.DOCUMENT_POSITION_FOLLOWING)) : shown.findLast(is(Node.DOCUMENT_POSITION_PRECEDING)));
  };
  document.addEventListener("keydown", (event) => {
    if (event.target === search) {
      if (event.key === "Escape") { search.value = ""; show(); search.blur(); }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") { event.preventDefault(); search.focus(); search.select(); }
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
    if (event.key === "d") danger(1);
    if (event.key === "D") danger(-1);
    if (["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "].includes(event.key)) gone = null;
    if (event.key === "s") document.getElementById(document.getElementById("split").checked ? "unified" : "split").click();
  });

  const marked = new Map(all("nav li li a").map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) marked.get(entry.target.id)?.toggleAttribute("aria-current", entry.isIntersecting);
  }, { rootMargin: "-15% 0px -75% 0px" });
  for (const application of applications) observer.observe(application);
})();
