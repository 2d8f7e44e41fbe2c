"use strict";
(() => {
  const specs = JSON.parse(document.getElementById("figures").textContent);
  const variable = /^var\((--[a-z0-9-]+)\)(?: (\d+)%)?$/;

  // "#0072b2" thinned to some percent.
  const thinned = (hex, percent) => {
    const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return `rgba(${parts.join(",")},${percent / 100})`;
  };

  // Figures name colours as CSS variables, so that they follow the reader's theme.
  const resolved = (value, css) => {
    if (typeof value === "string") {
      const match = variable.exec(value);
      if (!match) return value;
      const colour = css.getPropertyValue(match[1]).trim();
      return match[2] ? thinned(colour, Number(match[2])) : colour;
    }
    if (Array.isArray(value)) return value.map((part) => resolved(part, css));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolved(v, css)]));
    }
    return value;
  };

  const axis = (own) => ({
    gridcolor: "var(--grid)", linecolor: "var(--axis)", zeroline: false, fixedrange: true,
    tickfont: { color: "var(--soft)" }, ...own,
    title: { font: { color: "var(--soft)", size: 12 }, standoff: 8, ...own.title },
  });

  const draw = () => {
    const css = getComputedStyle(document.documentElement);
    for (const { id, data, layout } of specs) {
      const element = document.querySelector(`[data-figure="${id}"]`);
      const full = {
        ...layout,
        autosize: true,
        showlegend: false,
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: css.getPropertyValue("--sans").trim(), size: 11.5, color: "var(--ink)" },
        hoverlabel: {
          bgcolor: "var(--raised)", bordercolor: "var(--axis)", namelength: 40,
          font: { color: "var(--ink)", size: 12 },
        },
        xaxis: axis({ showgrid: false, showline: true, ...layout.xaxis }),
        yaxis: axis(layout.yaxis),
      };
      Plotly.react(element, resolved(data, css), resolved(full, css), {
        responsive: true, displayModeBar: false,
      });
    }
  };

  const sortable = (table) => {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const key = (row, column) => {
      const cell = row.cells[column];
      const raw = cell.dataset.value ?? cell.textContent.trim();
      if (raw === "") return null;
      const number = Number(raw);
      return Number.isNaN(number) ? raw.toLowerCase() : number;
    };
    const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      if ("fixed" in heading.dataset) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const first = heading.classList.contains("num") && column > 0 ? "descending" : "ascending";
        const now = heading.getAttribute("aria-sort");
        const next = now === null ? first : now === "descending" ? "ascending" : "descending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", next);
        const rows = original.map((row) => [key(row, column), row]);
        // What is undefined stays at the end in both directions.
        rows.sort(([a], [b]) => {
          if (a === null || b === null) return (a === null) - (b === null);
          return next === "ascending" ? compare(a, b) : compare(b, a);
        });
        body.append(...rows.map(([, row]) => row));
      });
    });
  };

  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  document.querySelectorAll("table.sortable").forEach(sortable);
})();
