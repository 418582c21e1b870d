// What all scripts of a page share.
// Text is only ever set as text: names come from files.
"use strict";
const SIZES = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

function node(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") made.style.cssText = value;  // which the page's policy allows, unlike the attribute
    else made.setAttribute(key, value);
  }
  made.append(...inside);
  return made;
}

function button(text, does, attributes = {}) {
  const made = node("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", () => does(made));
  return made;
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const digits = (value) => (value === null || value === undefined ? "?" : String(Number(value.toPrecision(4))));

function sizeText(bytes) {
  const unit = Object.keys(SIZES).findLast((name) => bytes >= SIZES[name]) || "B";
  return `${digits(bytes / SIZES[unit])} ${unit}`;
}

