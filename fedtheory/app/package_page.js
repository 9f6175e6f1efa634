(() => {
  "use strict";
  const form = document.querySelector(".filters"), table = document.querySelector("table.claims");
  const bodies = [...table.tBodies], told = document.getElementById("shown"), rest = document.getElementById("rest");
  const fields = ["text", "about", "paper", "status", "printed", "finding", "kind"];
  const FEW = 40;  // rows that are shown at once: what is further down is asked for
  let most = FEW, sorted = "", words = null, parts = [];
  const legend = document.querySelectorAll("#legend tr");
  document.body.classList.add("live");

  const unpacked = async packed => {
    const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };

  // ---- what is shown

  const plain = html => html.replace(/<[^>]*>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
  const place = b => b.querySelector("[data-part]");
  const wordsOf = b => (b.textContent + (place(b) ? plain(parts[place(b).dataset.part]) : "")).toLowerCase();
  const textOf = b => (words ??= new Map(bodies.map(b => [b, wordsOf(b)]))).get(b);

  const filter = () => {
    const want = Object.fromEntries(new FormData(form)), text = want.text.toLowerCase().trim();
    let count = 0;
    for (const b of table.tBodies) {
      const meant = fields.every(k => k === "text" || !want[k] || want[k] === "all" || b.dataset[k] === want[k]) && (!text || textOf(b).includes(text));
      count += meant;
      b.hidden = !meant || count > most;
    }
    told.textContent = `${count} of ${bodies.length} claims`;
    rest.hidden = count <= most;
  };

  const number = b => Number(b.dataset.tight.replace("inf", "Infinity"));
  const sort = by => {
    const key = by.replace(/^-/, ""), down = by.startsWith("-");
    sorted = by;
    const compare = key === "tight" ? (a, b) => number(a) - number(b) || 0
      : (a, b) => (a.dataset[key] ?? "").localeCompare(b.dataset[key] ?? "", "en", {numeric: true});
    const blank = b => key === "tight" && b.dataset.tight === "";  // last, whichever way
    const order = by === "" ? bodies : [...bodies].sort((a, b) => blank(a) - blank(b) || (blank(a) ? 0 : down ? compare(b, a) : compare(a, b)));
    table.append(...order);
    for (const button of table.querySelectorAll("th button")) {
      const th = button.closest("th");
      if (button.dataset.by === key) th.setAttribute("aria-sort", down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
  };

  const fill = body => {
    const span = place(body);
    if (!span) return;
    const whole = document.createElement("template");
    whole.innerHTML = parts[span.dataset.part];
    span.replaceWith(whole.content);
  };

  // A bound's sliders are made when its claim is opened; ...&at=L:2,T:100 in the address are numbers to begin with.
  const explorer = (body, at) => {
    const box = body.querySelector("[data-explore]:empty"), id = body.dataset.id;
    if (!box) return;
    const mine = (body.querySelector("[data-symbols]")?.dataset.symbols ?? "").split(" ").map(n => legend[n]).filter(Boolean);
    const label = name => mine.find(row => row.cells[1].textContent === name)?.cells[0].firstElementChild?.cloneNode(true) ?? name;
    let told = false;
    explore(box, label, at, numbers => {
      if (told) moved("replaceState", id, numbers);
      told = true;
    });
  };

  const open = (id, at = {}) => {
    const body = bodies.find(b => b.dataset.id === id);
    if (!body) return;
    body.hidden = false;
    fill(body);
    explorer(body, at);
    body.querySelector("details").open = true;
    body.scrollIntoView({block: "start"});
  };

  const mixed = new Set(bodies.map(b => b.dataset.about)).size > 1;
  const usual = {about: mixed ? "mathematics" : "all"};  // experiments stand apart

  // ---- the address: #status=violated&text=...&sort=-tight&open=fsl.theorem1 is a view that can be passed on and gone
  // back to; a bare #id opens a claim in the view that is there

  const address = (id, numbers = {}) => {
    const found = new URLSearchParams();
    for (const name of fields) if (form.elements[name].value !== (usual[name] ?? "")) found.set(name, form.elements[name].value);
    if (sorted) found.set("sort", sorted);
    if (id) found.set("open", id);
    const at = Object.entries(numbers).map(([name, value]) => `${name}:${value}`).join(",");
    if (at) found.set("at", at);
    return "#" + found;
  };
  const moved = (way, ...what) => history[way](null, "", address(...what) === "#" ? location.pathname + location.search : address(...what));

  const shown = figure => {
    figure.querySelector("details").open = true;
    figure.scrollIntoView();
  };

  const view = asked => {
    for (const name of fields) {
      form.elements[name].value = asked.get(name) ?? usual[name] ?? "";
      if (form.elements[name].selectedIndex === -1) form.elements[name].value = usual[name] ?? "";
    }
    most = FEW;
    sort(asked.get("sort") ?? "");
    filter();
  };

  const follow = () => {
    const hash = decodeURIComponent(location.hash.slice(1).replace(/\+/g, " "));
    const figure = hash.startsWith("figure-") && document.getElementById(hash);
    if (figure) return shown(figure);
    if (hash && !hash.includes("=")) return bodies.some(b => b.dataset.id === hash) ? open(hash) : undefined;
    const asked = new URLSearchParams(location.hash.slice(1));
    view(asked);
    const at = (asked.get("at") ?? "").split(",").filter(Boolean).map(part => part.split(":"));
    if (asked.has("open")) open(asked.get("open"), Object.fromEntries(at));
    else if (fields.some(name => asked.has(name))) document.getElementById("claims").scrollIntoView();
  };

  // ---- what is opened: symbols, plots, pictures

  const unpack = async img => {
    const packed = img.dataset.packed;
    if (!packed) return;
    delete img.dataset.packed;
    img.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(await unpacked(packed));
  };
  const seen = new IntersectionObserver(entries => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); unpack(entry.target); }
  }, {rootMargin: "600px"});
  for (const img of document.querySelectorAll("img[data-packed]")) seen.observe(img);
  addEventListener("beforeprint", () => document.querySelectorAll("img[data-packed]").forEach(unpack));

  table.addEventListener("toggle", async event => {
    const here = event.target;
    if (!here.open) return;
    if (here.id && here.closest("tbody")) {
      fill(here.closest("tbody"));
      explorer(here.closest("tbody"));
    }
    if (here.dataset.symbols && !here.querySelector("table")) {
      const around = document.createElement("div"), rows = around.appendChild(document.createElement("table"));
      Object.assign(around, {className: "scroll", tabIndex: 0});
      rows.className = "symbols";
      rows.append(...here.dataset.symbols.split(" ").map(n => legend[n].cloneNode(true)));
      here.querySelector("p").replaceWith(around);
    }
    const plots = here.dataset.plot ? (here.closest("details[id]").open ? [here] : []) : here.id ? here.querySelectorAll("[data-plot][open]") : [];
    for (const place of plots) {
      const picture = document.querySelector(`#figure-${CSS.escape(place.dataset.plot)} img`);
      if (picture && !place.querySelector("img")) {
        const copy = picture.cloneNode();
        place.append(copy);
        await unpack(picture);
        copy.removeAttribute("data-packed");
        copy.src = picture.src;
      }
    }
  }, true);

  // ---- what is done

  form.addEventListener("input", event => {
    most = FEW;
    filter();
    moved(event.target.name === "text" ? "replaceState" : "pushState");
  });
  form.addEventListener("submit", event => event.preventDefault());
  table.tHead.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (!button) return;
    const down = button.closest("th").getAttribute("aria-sort") === "ascending";
    sort((down ? "-" : "") + button.dataset.by);
    filter();
    moved("pushState");
  });
  table.addEventListener("click", event => {
    const row = event.target.closest("tr.head");
    if (!row || event.target.closest("a")) return;
    const more = row.parentElement.querySelector("details");
    more.open = !more.open;
  });
  document.addEventListener("click", event => {  // an id opens its claim and leaves the view as it is
    const link = event.target.closest('a[href^="#"]'), id = link && decodeURIComponent(link.getAttribute("href").slice(1));
    const figure = id?.startsWith("figure-") && document.getElementById(id);
    if (figure) {
      event.preventDefault();
      history.pushState(null, "", link.getAttribute("href"));
      return shown(figure);
    }
    if (!link || !bodies.some(b => b.dataset.id === id)) return;
    event.preventDefault();
    moved("pushState", id);
    open(id);
  });
  rest.addEventListener("click", event => {
    const asked = event.target.dataset.more;
    if (asked) { most = asked === "all" ? Infinity : most + Number(asked); filter(); }
  });
  const bar = () => document.documentElement.style.setProperty("--bar", (getComputedStyle(form).position === "sticky" ? form.offsetHeight : 0) + "px");
  new ResizeObserver(bar).observe(form);
  bar();
  const ready = async () => {
    const blob = document.getElementById("parts");
    if (blob) parts = JSON.parse(await unpacked(blob.dataset.packed));
    addEventListener("popstate", follow);
    view(new URLSearchParams());
    follow();
  };
  ready();
})();
