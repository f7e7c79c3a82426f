"use strict";
// What comes from the server is only ever put into the page as text (textContent).

const part = (id) => document.getElementById(id);
const address = new URL(location.href);
const token = address.searchParams.get("token") || "";
let rater = address.searchParams.get("rater") || "";
let item = null;
let busy = false;
let wasFirst = false;

function show(id) {
  for (const name of ["enter", "grading", "finished"]) part(name).hidden = name !== id;
  part("who").hidden = id === "enter";
  part("how").hidden = id === "finished";
}

function fail(message) {
  part("error").textContent = message;
  part("error").hidden = !message;
}

async function ask(action, body) {
  if (busy) return null;
  busy = true;
  try {
    const response = await fetch(`api/${action}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Token": token },
      body: JSON.stringify({ rater, ...body }),
    });
    const isJson = (response.headers.get("content-type") || "").includes("json");
    const answer = isJson ? await response.json() : { error: await response.text() };
    fail(answer.error || "");
    return answer.error ? null : answer;
  } catch {
    fail("Not saved: the server does not answer. Is judge spotcheck still running? Then press again.");
    return null;
  } finally {
    busy = false;
  }
}

function segment([text, marked]) {
  const node = marked ? document.createElement("mark") : document.createTextNode("");
  node.textContent = text;
  return node;
}

function gradeButton(meaning, grade) {
  const button = document.createElement("button");
  const digit = document.createElement("b");
  const words = document.createElement("span");
  button.type = "button";
  button.dataset.grade = grade;
  if (grade < 10) button.setAttribute("aria-keyshortcuts", String(grade));
  digit.textContent = grade;
  words.textContent = meaning;
  button.append(digit, words);
  button.addEventListener("click", () => label(grade));
  return button;
}

function render(state) {
  const { graded, skipped, total } = state.progress;
  part("bar").max = total;
  part("bar").value = graded;
  part("count").textContent = `${graded} of ${total} graded${skipped ? `, ${skipped} skipped` : ""}`;
  part("rater-name").textContent = rater;
  part("run").textContent = state.run ? `of ${state.run}` : "";
  item = state.item;
  part("note").value = "";
  if (!item) {
    show("finished");
    part("labels").textContent = state.labels;
    part("finished-title").focus();
    return;
  }
  show("grading");
  // Open until the first grade; from then on it is one line, and as the person left it.
  if (graded === 1 && wasFirst) part("how").open = false;
  wasFirst = graded === 0;
  part("query").textContent = item.query;
  part("source").textContent = item.source ? `Source: ${item.source}` : "";
  part("source").hidden = !item.source;
  part("chunk").replaceChildren(...item.segments.map(segment));
  part("scale").replaceChildren(...state.scale.map(gradeButton));
  window.scrollTo(0, 0);
  part("query").focus({ preventScroll: true });
}

function tell(previous) {
  if (!previous) return;
  const judge = previous.judge === null ? "no grade" : previous.judge;
  const reason = previous.reason ? `: ${previous.reason}` : "";
  part("previous").textContent =
    `Last chunk: you gave ${previous.yours}, the judge ${judge}${reason} (${previous.why}).`;
}

async function label(grade) {
  if (!item) return;
  const { query_id, id } = item;
  const state = await ask("label", { query_id, id, grade, note: part("note").value });
  if (!state) return;
  part("previous").textContent = grade === null ? "Skipped; it comes again at the end." : "";
  tell(state.previous);
  render(state);
}

async function undo() {
  const state = await ask("undo", {});
  if (!state) return;
  render(state);
  if (!state.undone) {
    part("previous").textContent = "Nothing to take back.";
    return;
  }
  const { first, grade, note } = state.undone;
  part("previous").textContent = grade === null
    ? "Skip taken back."
    : `Grade again. Your first grade, ${first}, is kept beside the new one.`;
  part("note").value = note;
  const button = document.querySelector(`#scale [data-grade="${grade}"]`);
  if (button) button.setAttribute("aria-pressed", "true");
}

async function begin() {
  if (!rater) {
    show("enter");
    part("rater").focus();
    return;
  }
  const state = await ask("next", {});
  if (!state) return;
  part("how").open = state.progress.graded === 0;
  render(state);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target instanceof HTMLInputElement) {
    if (event.key === "Escape" && event.target === part("note")) part("query").focus();
    return;
  }
  const onButton = event.target instanceof HTMLButtonElement && ["Enter", " "].includes(event.key);
  if (onButton || event.repeat || part("grading").hidden && event.key !== "u") return;
  const actions = { s: () => label(null), u: undo, n: () => part("note").focus() };
  const button = /^[0-9]$/.test(event.key) && document.querySelector(`#scale [data-grade="${event.key}"]`);
  const action = button ? () => label(Number(event.key)) : actions[event.key];
  if (!action || !part("enter").hidden) return;
  event.preventDefault();
  action();
}

part("skip").addEventListener("click", () => label(null));
part("undo").addEventListener("click", undo);
part("undo-last").addEventListener("click", undo);
part("change").addEventListener("click", () => {
  part("rater").value = rater;
  show("enter");
  part("rater").focus();
});
part("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  rater = part("rater").value.trim();
  if (!rater) return;
  // In the address, so that a reload goes on as the same person.
  address.searchParams.set("rater", rater);
  history.replaceState(null, "", address);
  part("previous").textContent = "";
  begin();
});
document.addEventListener("keydown", onKey);
begin();
