// A bound that sliders move. What it computes are the programs of the claim's record, step by step, in doubles;
// Python computes the same steps exactly.
const explore = (() => {
  "use strict";
  const LEFT = 74, WIDE = 552;  // where a plot of 640 begins, and how far it goes
  const number = text => {
    const [p, q] = String(text).split("/");
    return q === undefined ? (p.trim() === "" ? NaN : Number(p)) : Number(p) / Number(q);
  };
  const power = (x, text, nonnegative) => {
    const [p, q] = text.split("/").map(Number);
    if (q !== undefined) return x < 0 ? NaN : q === 2 ? Math.sqrt(x) ** p : x ** (p / q);
    return p < 0 && x === 0 ? (nonnegative || p % 2 === 0 ? Infinity : NaN) : x ** p;
  };
  const operations = {
    add: (...a) => a.reduce((x, y) => x + y), mul: (...a) => a.reduce((x, y) => x * y),
    min: Math.min, max: Math.max, abs: Math.abs, exp: Math.exp, log: Math.log, floor: Math.floor, ceiling: Math.ceil,
    integer_power: (x, n) => x ** n, le: (x, y) => x <= y, lt: (x, y) => x < y, ge: (x, y) => x >= y, gt: (x, y) => x > y,
    eq: (x, y) => Math.abs(x - y) <= 1e-12 * Math.max(Math.abs(x), Math.abs(y)), ne: (x, y) => x !== y, both: (...a) => a.every(Boolean),
  };
  const run = (program, values) => {
    const found = [];
    for (const [op, operands, detail] of program) {
      const parts = operands.map(n => found[n]);
      found.push(op === "number" ? number(detail) : op === "symbol" ? values[detail] : op === "truth" ? detail
        : op === "power" ? power(parts[0], ...detail)
        : op === "piecewise" ? parts.find((_, n) => n % 2 && parts[n - 1]) ?? NaN
        : operations[op](...parts));
    }
    return found[found.length - 1];
  };
  const shown = x => Number.isFinite(x) ? String(Number(x.toPrecision(15))) : Number.isNaN(x) ? "no value" : x > 0 ? "infinite" : "minus infinity";
  const short = x => x >= 1e-3 && x < 1e5 ? String(Number(x.toPrecision(2))) : x.toExponential(1);
  const element = (tag, attributes = {}, ...inside) => {
    const svg = ["svg", "path", "rect", "line", "text"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  };

  // A slider goes from -1 to 1 around the number to begin with: factors up to 1000 either way, or along a unit interval.
  const moves = (domain, start, at) => {
    if (domain === "unit") return (at + 1) / 2;
    if (domain === "real") return start + 10 * Math.max(1, Math.abs(start)) * at;
    if (domain === "nonnegative" && at <= -1) return 0;
    const x = (start || 1) * 10 ** (3 * at);
    return domain === "count" ? Math.max(1, Math.round(x)) : Number(x.toPrecision(4));
  };
  const stands = (domain, start, x) => {
    if (domain === "unit") return 2 * x - 1;
    if (domain === "real") return (x - start) / (10 * Math.max(1, Math.abs(start)));
    return x > 0 ? Math.log10(x / (start || 1)) / 3 : -1;
  };

  return (box, label, at = {}, changed = () => {}) => {
    const data = JSON.parse(box.dataset.explore), names = Object.keys(data.start);
    const upper = data.sign.startsWith("<"), runs = data.beside, start = name => number(data.start[name]);
    const fields = {}, rows = element("div", {class: "rows"}), heading = element("h3", {}, "Move the bound");
    const out = element("output"), rules = element("ul"), measured = element("p", {class: "measured"}), plot = element("svg", {viewBox: "0 0 640 176", role: "img"});
    let moving = runs ? runs.over : names.includes("T") ? "T" : names[0];

    const everything = values => {
      for (const [name, program] of Object.entries(data.solved)) values[name] = run(program, values);
      const bound = run(data.right, values), floor = data.trivial ? run(data.trivial[1], values) : NaN;
      const failing = data.rules.filter(([, program]) => run(program, values) !== true).map(([says]) => says);
      return {bound, floor, failing, empty: upper && bound >= floor};
    };
    const values = () => Object.fromEntries(names.map(name => [name, number(fields[name].text.value)]));
    // Runs stand beside a bound only at their own numbers; they have all numbers of rounds.
    const alike = here => runs && Object.entries(runs.numbers).every(([name, text]) => here[name] === number(text));

    const measure = here => {
      if (!runs) return measured.textContent = "No runs stand beside it: the line holds for something else than rounds of a method, takes what each round measures, or asks for more than the small problems meet that are run here.";
      const at = runs.T.indexOf(here[runs.over]), about = `${runs.trials} runs on ${runs.says}`;
      if (!alike(here)) {
        const back = element("button", {type: "button", class: "plain"}, "Set them so");
        back.addEventListener("click", () => { for (const [name, text] of Object.entries(runs.numbers)) fields[name].text.value = text; tell(); });
        measured.replaceChildren(`There are ${about}, with other numbers than these. `, back);
      } else measured.replaceChildren(`Beside it, ${about}: `, ...(at === -1 ? [`from ${runs.over} = ${runs.T[0]} to ${runs.T.at(-1)} alone.`] : [
        `left side, ${runs.exact ? "exact: " : "mean of the runs: "}`, element("output", {class: "left"}, shown(runs.exact ? runs.exact[at] : runs.left[at])),
        `${runs.exact ? `; mean of the runs ${shown(runs.left[at])}` : ""}, of which 8 in 10 lie from ${shown(runs.low[at])} to ${shown(runs.high[at])}.`]));
    };

    const draw = () => {
      const here = values(), x0 = here[moving], domain = data.domains[moving], points = [];
      for (let n = 0; n <= 160; n++) {
        const x = domain === "unit" || domain === "real" ? moves(domain, x0, n / 80 - 1) : Math.max(domain === "count" ? 1 : 0, (x0 || 1) * 10 ** (n / 40 - 2));
        points.push({x, ...everything({...here, [moving]: x})});
      }
      const left = n => LEFT + n * WIDE / 160;
      const across = x => LEFT + (domain === "unit" || domain === "real" ? NaN : 40 * (Math.log10(x / x0) + 2)) * WIDE / 160;
      const seen = !alike(here) ? [] : runs.T.map((T, n) => ({x: moving === runs.over ? across(T) : T === here[runs.over] ? left(80) : NaN, n}))
        .filter(p => p.x >= LEFT && p.x <= LEFT + WIDE);
      const sides = seen.flatMap(({n}) => [runs.exact?.[n], runs.left[n], runs.low[n], runs.high[n]]);
      const high = [...points.map(p => p.bound), ...sides].filter(y => y > 0 && Number.isFinite(y)).map(Math.log10);
      const low = Math.min(...high), top = Math.max(...high, low + 1e-9);
      const tall = bound => 140 - 120 * (Math.log10(bound) - low) / (top - low);
      const path = points.map((p, n) => p.bound > 0 && Number.isFinite(p.bound) ? `${left(n).toFixed(1)} ${tall(p.bound).toFixed(1)}` : "").join("|")
        .split(/\|(?:\|)+|^\|+|\|+$/).filter(Boolean).map(part => "M" + part.split("|").join("L")).join("");
      const word = (x, y, anchor, text) => element("text", {x, y, "text-anchor": anchor}, text);
      const shade = (test, name) => points.flatMap((p, n) => test(p) ? [element("rect", {class: name, x: left(n) - 1.8, y: 14, width: 3.7, height: 130})] : []);
      plot.replaceChildren(
        ...shade(p => p.empty, "shade"), ...shade(p => p.failing.length, "outside"),
        ...seen.filter(({n}) => runs.high[n] > 0).map(({x, n}) => element("line", {class: "runs", x1: x, x2: x, y1: tall(runs.high[n]), y2: runs.low[n] > 0 ? tall(runs.low[n]) : 144})),
        ...seen.map(({x, n}) => ({x, y: (runs.exact ?? runs.left)[n]})).filter(({y}) => y > 0).map(({x, y}) => element("rect", {class: "exact", x: x - 1.5, y: tall(y) - 1.5, width: 3, height: 3})),
        element("line", {class: "axis", x1: LEFT, x2: LEFT + WIDE, y1: 144, y2: 144}), element("path", {class: "curve", d: path}),
        element("line", {class: "here", x1: left(80), x2: left(80), y1: 14, y2: 144}),
        word(LEFT, 160, "start", shown(Number(points[0].x.toPrecision(3)))), word(left(80), 160, "middle", `${moving} = ${shown(Number(x0.toPrecision(6)))}`), word(LEFT + WIDE, 160, "end", shown(Number(points[160].x.toPrecision(3)))),
        ...(high.length ? [word(LEFT - 4, 24, "end", short(10 ** top)), word(LEFT - 4, 142, "end", short(10 ** low))] : []),
      );
      plot.setAttribute("aria-label", `The right side over ${moving}, from ${shown(points[0].bound)} to ${shown(points[160].bound)}; shaded where it says nothing that is not trivially true, or a hypothesis fails.`);
    };
    const tell = held => {
      const found = everything(values());
      out.value = shown(found.bound);
      const said = found.failing.map(says => `outside its hypotheses: ${says} does not hold`);
      if (found.empty) said.push(`says nothing here: ${data.trivial[0]}, which is at most ${shown(found.floor)}`);
      rules.replaceChildren(...(said.length ? said : ["inside its hypotheses" + (data.trivial ? `, and below what is trivially true (${shown(found.floor)})` : "")]).map(text => element("li", {}, text)));
      for (const name of names) if (name !== held) fields[name].slider.value = stands(data.domains[name], start(name), number(fields[name].text.value));
      measure(values());
      draw();
      changed(Object.fromEntries(names.filter(name => fields[name].text.value !== data.start[name]).map(name => [name, fields[name].text.value])));
    };
    for (const name of names) {
      const slider = element("input", {type: "range", min: -1, max: 1, step: 0.005, "aria-label": name});
      const text = element("input", {type: "text", value: at[name] ?? data.start[name], "aria-label": `${name}, as a number or a fraction`, "data-name": name});
      slider.addEventListener("input", () => { moving = name; text.value = String(moves(data.domains[name], start(name), Number(slider.value))); tell(name); });
      text.addEventListener("input", () => { moving = name; tell(); });
      text.addEventListener("focus", () => { moving = name; draw(); });
      fields[name] = {slider, text};
      rows.append(element("span", {}, label(name)), slider, text);
    }
    box.replaceChildren(heading, rows, element("p", {}, "right side: ", out), measured, rules, plot,
      element("p", {class: "soft"}, `Line: the right side.${runs ? ` Points: the left side, ${runs.exact ? "exact" : "mean of runs"}; upright: where 8 in 10 runs lie.` : ""} Shaded brown: it says no more than what is trivially true. Shaded grey: a hypothesis fails.`));
    if (Object.keys(at).length) moving = Object.keys(at)[0] in fields ? Object.keys(at)[0] : moving;
    tell();
  };
})();
