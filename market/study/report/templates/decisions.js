"use strict";
(() => {
  const root = document.getElementById("browser");
  if (!root) return;
  const MOST_ROWS = 200;  // as many as `packing.py` keeps of a table
  const BRIEF = 16;  // characters of a text that stays on one line
  const MANY = 8;  // columns of which a single row is told one below the other
  const control = Object.fromEntries(
    [...root.querySelectorAll("[data-control]")].map((element) => [element.dataset.control, element]),
  );
  const sources = [...document.querySelectorAll("script[data-episode]")];

  // Every word of an episode ends in a text node: nothing of it is ever parsed as HTML.
  const make = (name, className, ...children) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };
  const scalar = (value) => value === null || typeof value !== "object";
  const flat = (value) => value && typeof value === "object" && !Array.isArray(value) && Object.values(value).every(scalar);
  const spelled = (value) => value === null ? "–" : typeof value === "number" ? value.toLocaleString("en") : String(value);
  const quoted = (value) => make("bdi", value === null ? "soft" : "", spelled(value));

  const brief = (value) => typeof value === "number" ? "num" : typeof value === "string" && value.length <= BRIEF ? "brief" : "";
  const grid = (head, rows, marked, left = 0, meanings = []) => {
    const table = make("table", "inner");
    table.append(make("thead", "", make("tr", "", ...head.map((name, column) => {
      const cell = make("th", "", name);
      cell.scope = "col";
      cell.title = meanings[column] ?? "";
      return cell;
    }))));
    const body = make("tbody");
    for (const row of rows.slice(0, MOST_ROWS)) {
      body.append(make("tr", marked && marked(row) ? "refusal" : "", ...row.map((value) => make("td", brief(value), scalar(value) ? quoted(value) : shown(value)))));
    }
    table.append(body);
    const more = Math.max(0, rows.length - MOST_ROWS) + left;
    return make("div", "scroll", table, more > 0 ? make("p", "soft", `and ${more.toLocaleString("en")} more`) : null);
  };
  const columns = (objects) => [...new Set(objects.flatMap(Object.keys))];

  const shown = (value) => {
    if (scalar(value)) return quoted(value);
    if (Array.isArray(value)) {
      if (!value.length) return make("span", "soft", "nothing");
      if (value.every(flat)) {
        const head = columns(value);
        return grid(head, value.map((row) => head.map((name) => name in row ? row[name] : "")));
      }
      if (value.every(scalar)) return make("bdi", "", value.map(spelled).join(", "));
      return make("ol", "list", ...value.slice(0, MOST_ROWS).map((part) => make("li", "", shown(part))));
    }
    const entries = Object.entries(value);
    if (!entries.length) return make("span", "soft", "nothing");
    if (entries.length > 1 && entries.every(([, part]) => flat(part))) {
      const head = columns(entries.map(([, part]) => part));
      return grid(["", ...head], entries.map(([name, part]) => [name, ...head.map((key) => key in part ? part[key] : "")]));
    }
    return make("dl", "terms", ...entries.map(([name, part]) => make("div", scalar(part) ? "" : "deep", make("dt", "", name), make("dd", "", shown(part)))));
  };
  const folded = (title, content, open) => {
    const details = make("details", "fold", make("summary", "", title));
    details.open = Boolean(open);
    // Filled when it is opened: an observation may be large.
    const fill = () => { if (details.open && details.childElementCount === 1) details.append(content()); };
    details.addEventListener("toggle", fill);
    fill();
    return details;
  };
  const block = (title, ...children) => make("section", "block", make("h3", "", title), ...children);

  let episode = null;
  let list = [];
  let at = 0;

  const unpack = async (source) => {
    const bytes = Uint8Array.from(atob(source.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  const refusals = (one) => Object.entries(one.rows ?? {}).flatMap(([table, rows]) => {
    const column = episode.columns[table].indexOf(episode.refused[table]);
    return column < 0 ? [] : rows.filter((row) => row[column] !== null);
  });
  const kept = {
    all: () => true,
    refused: (one) => refusals(one).length > 0,
    silent: (one) => "none" in one,
    model: (one) => "calls" in one,
  };

  const rowsOf = (table, rows, left) => {
    const head = episode.columns[table];
    const reason = head.indexOf(episode.refused[table]);
    const named = () => shown(Object.fromEntries(head.map((name, column) => [name, rows[0][column]])));
    const told = reason < 0 && rows.length === 1 && head.length > MANY ? named() : grid(head, rows, reason < 0 ? null : (row) => row[reason] !== null, left, episode.meanings[table]);
    return make("div", "rows", make("h4", "", table, make("span", "about", episode.about[table])), told);
  };
  const callOf = (call) => {
    const facts = ["model", "outcome", "finish", "cause", "tokens in", "tokens out", "cost", "seconds", "tries", "cached"]
      .filter((name) => name in call)
      .map((name) => make("span", "", `${name} `, make("bdi", "strong", name === "cost" ? `$${call[name]}` : spelled(call[name]))));
    const parts = [make("p", "facts", make("b", "", call.attempt ? `Re-ask ${call.attempt}` : "First ask"), ...facts)];
    if (call.prompt) {
      parts.push(folded(`Prompt, ${call.prompt.length} messages`, () => make("div", "", ...call.prompt.map((message) => {
        const [role, content] = episode.texts[message];
        return make("div", "message", make("b", "soft", role), make("pre", "", content));
      }))));
    }
    if ("text" in call && call.text) parts.push(make("p", "soft small", "raw reply"), make("pre", "reply", call.text));
    for (const [name, given] of call.tools ?? []) parts.push(make("p", "soft small", "tool call ", make("bdi", "", name)), make("pre", "reply", given));
    if (call.error) parts.push(make("pre", "bad", call.error));
    return make("div", "call", ...parts);
  };

  // Long lists of like objects come column by column; they are put together when they are shown.
  const whole = (one) => {
    for (const [path, head, values] of one.columns ?? []) {
      const at = path.slice(0, -1).reduce((part, key) => part[key], one.private);
      at[path.at(-1)] = values[0].map((_, row) => Object.fromEntries(head.map((name, column) => [name, values[column][row]])));
    }
    delete one.columns;
    return one;
  };

  const show = () => {
    control.place.textContent = list.length ? `${(at + 1).toLocaleString("en")} of ${list.length.toLocaleString("en")}` : "none";
    control.before.disabled = at <= 0;
    control.after.disabled = at >= list.length - 1;
    if (!list.length) {
      control.decision.replaceChildren(make("p", "soft", "No decision is like that."));
      return;
    }
    const one = whole(list[at]);
    const refused = refusals(one).length;
    const heading = make("h3", "which", make("bdi", "", one.seat), make("span", "soft", ` step ${one.step}, turn ${one.turn}: ${one.kind}`));
    if ("none" in one) heading.append(make("span", "tag bad", `no action: ${one.none}`));
    if (refused) heading.append(make("span", "tag warn", `${refused} refused`));
    const did = "none" in one
      ? make("p", "bad", `Nothing: ${one.none}.`)
      : shown(one.action);
    const rows = Object.entries(one.rows ?? {});
    control.decision.replaceChildren(...[
      heading,
      make("div", "blocks",
        make("div", "",
          block("Did", did),
          "said" in one ? block("Noted for itself", shown(one.said)) : null,
          block("What came of it", ...(rows.length ? rows.map(([table, of]) => rowsOf(table, of, one.more?.[table])) : [make("p", "soft", "Nothing was booked to it.")])),
        ),
        make("div", "",
          block("Saw", folded("its own", () => shown(one.private), true), folded("what all saw", () => shown(episode.public[one.public]), true), folded("rules", () => shown(episode.rules))),
        ),
      ),
      one.calls ? block("Asked a model", ...one.calls.map(callOf)) : null,
    ].filter(Boolean));
  };

  const choose = () => {
    const { value: seat } = control.seat;
    const { value: step } = control.step;
    list = episode.decisions.filter((one) => (!seat || one.seat === seat) && (!step || String(one.step) === step) && kept[control.show.value](one));
    at = 0;
    show();
  };
  const options = (select, everything, values) => {
    const before = select.value;
    const all = make("option", "", everything);
    all.value = "";
    select.replaceChildren(all, ...values.map((value) => make("option", "", String(value))));
    select.value = values.map(String).includes(before) ? before : "";
  };
  const load = async () => {
    episode = await unpack(sources[control.episode.selectedIndex]);
    options(control.seat, "everybody", [...new Set(episode.decisions.map((one) => one.seat))]);
    options(control.step, "all", [...new Set(episode.decisions.map((one) => one.step))]);
    choose();
  };
  const walk = (by) => {
    at = Math.min(list.length - 1, Math.max(0, at + by));
    show();
  };

  control.episode.addEventListener("change", load);
  for (const name of ["seat", "step", "show"]) control[name].addEventListener("change", choose);
  control.before.addEventListener("click", () => walk(-1));
  control.after.addEventListener("click", () => walk(1));
  if (sources.length) load().then(() => { root.hidden = false; });
})();
