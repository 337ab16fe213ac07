// The frame around the views: login, navigation, keys, the timer that refreshes the view at hand.

import * as api from "./api.js";
import { byID, el } from "./dom.js";
import overview from "./views/overview.js";
import topology from "./views/topology.js";
import sessions from "./views/sessions.js";
import digests from "./views/digests.js";
import tables from "./views/tables.js";
import explain from "./views/explain.js";
import config from "./views/config.js";
import events from "./views/events.js";
import profile from "./views/profile.js";
import transactions from "./views/transactions.js";

// views in the order of their keys, the tenth of which is 0. Each is {id, title, every, open(context)}; open gives {element, refresh(), filter(text)}, of
// which only element must be. every is how often it is refreshed, in milliseconds; 0: once.
const views = [overview, topology, sessions, digests, tables, explain, config, events, profile, transactions];
const ranks = ["none", "read", "operate", "admin"];

let who = null;
let current = null; // {view, opened}
let timer = 0;
let paused = false;

// context is what views get of the frame.
const context = {
  rows: api.rows,
  act: api.act,
  may: (rights) => who !== null && ranks.indexOf(who.rights) >= ranks.indexOf(rights),
  ask,
  note,
  // change does something after a question, says what came of it, and refreshes the view.
  async change(question, done, act) {
    if (!(await ask(question))) return;
    try {
      await act();
      note(done);
    } catch (error) {
      note(error.message);
    }
    refresh();
  },
  // go opens another view with something for it.
  go(id, parcel) {
    context.parcel = parcel;
    location.hash = id;
  },
  parcel: null,
};

let answerAsk = () => {};
function ask(question) {
  answerAsk(false);
  const dialog = byID("ask");
  dialog.querySelector("p").textContent = question;
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => (answerAsk = resolve));
}

let noteTimer = 0;
function note(text) {
  const element = byID("note");
  element.textContent = text;
  element.hidden = false;
  clearTimeout(noteTimer);
  noteTimer = setTimeout(() => (element.hidden = true), 6000);
}

function show() {
  const view = views.find((v) => v.id === location.hash.slice(1)) || views[0];
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === "#" + view.id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = view.title + " · kingshard";
  byID("title").textContent = view.title;
  const opened = view.open(context);
  context.parcel = null;
  current = { view, opened };
  byID("view").replaceChildren(opened.element);
  byID("filter").value = "";
  byID("filter").hidden = !opened.filter;
  trouble("");
  refresh();
}

async function refresh() {
  clearTimeout(timer);
  const at = current;
  if (!at || !who) return;
  if (at.opened.refresh) {
    try {
      await at.opened.refresh();
      if (at === current) trouble("");
    } catch (error) {
      if (at === current) trouble(error.status ? error.message : "The proxy does not answer: " + error.message);
    }
  }
  clearTimeout(timer);
  if (at === current && at.view.every && who && !paused && !document.hidden) timer = setTimeout(refresh, at.view.every);
}

function trouble(text) {
  byID("trouble").textContent = text;
  byID("trouble").hidden = !text;
  const live = byID("live");
  live.className = text ? "lost" : paused ? "paused" : "";
  live.textContent = live.title = text ? "no answer" : paused ? "paused" : "live";
}

function pause() {
  paused = !paused;
  byID("pause").textContent = paused ? "Go on" : "Pause";
  trouble("");
  if (!paused) refresh();
}

function theme(next) {
  const root = document.documentElement;
  if (next === "light" || next === "dark") root.dataset.theme = next;
  else delete root.dataset.theme;
  byID("theme").textContent = { light: "Light", dark: "Dark" }[next] || "Auto";
  localStorage.setItem("theme", next);
}

function turnTheme() {
  const order = ["auto", "light", "dark"];
  theme(order[(order.indexOf(localStorage.getItem("theme") || "auto") + 1) % order.length]);
}

function enter(user) {
  who = user;
  byID("login").hidden = true;
  byID("app").hidden = false;
  byID("who").textContent = `${who.name} (${who.rights})`;
  show();
}

function leave(reason) {
  who = null;
  current = null;
  clearTimeout(timer);
  byID("view").replaceChildren();
  byID("app").hidden = true;
  const form = byID("login");
  form.hidden = false;
  form.reset();
  form.querySelector(".error").textContent = reason;
  form.elements.user.focus();
}

async function login(event) {
  event.preventDefault();
  const form = event.target;
  const { user, password, token } = Object.fromEntries(new FormData(form));
  const error = form.querySelector(".error");
  error.textContent = "";
  try {
    const entered = await api.login(token ? { token } : { user, password });
    form.reset();
    enter(entered);
  } catch (failure) {
    error.textContent = failure.message;
    form.elements.password.value = form.elements.token.value = "";
  }
}

function key(event) {
  const field = event.target.closest("input, textarea, select");
  if (event.key === "Escape" && field) {
    if (field.id === "filter" && field.value) {
      field.value = "";
      field.dispatchEvent(new Event("input"));
    }
    field.blur();
    return;
  }
  if (!who || field || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const view = /^\d$/.test(event.key) ? views[(Number(event.key) || 10) - 1] : undefined;
  if (view) location.hash = view.id;
  else if (event.key === "/" && !byID("filter").hidden) byID("filter").focus();
  else if (event.key === "?") byID("help").showModal();
  else if (event.key === "p") pause();
  else if (event.key === "t") turnTheme();
  else return;
  event.preventDefault();
}

function start() {
  theme(localStorage.getItem("theme") || "auto");
  document.querySelector("nav").append(...views.map((v, k) => el("a", { href: "#" + v.id }, el("kbd", { "aria-hidden": "true" }, String((k + 1) % 10)), v.title)));
  byID("login").addEventListener("submit", login);
  byID("pause").addEventListener("click", pause);
  byID("theme").addEventListener("click", turnTheme);
  byID("keys").addEventListener("click", () => byID("help").showModal());
  byID("logout").addEventListener("click", () => api.logout().then(() => leave("You are logged out."), (error) => leave(error.message)));
  // Not by the event of closing, which comes late: the dialog may be open again by then.
  for (const button of document.querySelectorAll("#ask button")) button.addEventListener("click", () => answerAsk(button.value === "yes"));
  byID("ask").addEventListener("cancel", () => answerAsk(false));
  byID("filter").addEventListener("input", (event) => current?.opened.filter?.(event.target.value));
  document.addEventListener("keydown", key);
  document.addEventListener("visibilitychange", () => !document.hidden && !paused && refresh());
  window.addEventListener("hashchange", () => who && show());
  api.onEnd(() => leave("The session has ended: log in again."));
  api.session().then(enter, (error) => leave(error.status === 401 ? "" : error.message));
}

start();
