(() => {
  "use strict";
  const form = document.querySelector(".filters"), table = document.querySelector("table.claims");
  const bodies = [...table.tBodies], told = document.getElementById("shown");
  const words = new Map(bodies.map(b => [b, b.textContent.toLowerCase()]));
  document.body.classList.add("live");

  const filter = () => {
    const want = Object.fromEntries(new FormData(form)), text = want.text.toLowerCase().trim();
    let count = 0;
    for (const b of bodies) {
      const shown = ["paper", "status", "printed", "kind"].every(k => !want[k] || b.dataset[k] === want[k])
        && (!text || words.get(b).includes(text));
      b.hidden = !shown;
      count += shown;
    }
    told.textContent = `${count} of ${bodies.length} claims`;
  };

  const sort = (by, down) => {
    const number = b => b.dataset.tight === "" ? -Infinity : Number(b.dataset.tight.replace("inf", "Infinity"));
    const compare = by === "tight" ? (a, b) => (number(a) > number(b)) - (number(a) < number(b))
      : (a, b) => a.dataset[by].localeCompare(b.dataset[by], "en", {numeric: true});
    for (const b of [...bodies].sort((a, b) => down ? compare(b, a) : compare(a, b))) table.append(b);
    for (const button of table.querySelectorAll("th button")) {
      const th = button.closest("th");
      if (button.dataset.by === by) th.setAttribute("aria-sort", down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
  };

  const open = id => {
    const body = bodies.find(b => b.dataset.id === id);
    if (!body) return;
    body.hidden = false;
    const more = body.querySelector("details");
    more.open = true;
    more.scrollIntoView({block: "center"});
  };

  // #status=violated&text=...&sort=-tight&open=fsl.theorem1: a view that can be passed on; a bare #id opens a claim.
  const follow = () => {
    const hash = location.hash.slice(1);
    if (!hash.includes("=")) return open(decodeURIComponent(hash));
    const asked = new URLSearchParams(hash);
    for (const name of ["text", "paper", "status", "printed", "kind"]) if (asked.has(name)) form.elements[name].value = asked.get(name);
    filter();
    if (asked.has("sort")) sort(asked.get("sort").replace(/^-/, ""), asked.get("sort").startsWith("-"));
    if (asked.has("open")) open(asked.get("open"));
  };

  // A claim shows its plots when it is opened; each picture is in the page once, among the figures.
  table.addEventListener("toggle", event => {
    for (const place of event.target.querySelectorAll("[data-plot]")) {
      const picture = document.querySelector(`#figure-${CSS.escape(place.dataset.plot)} img`);
      if (event.target.open && picture && !place.querySelector("img")) place.append(picture.cloneNode());
    }
  }, true);
  form.addEventListener("input", filter);
  form.addEventListener("submit", event => event.preventDefault());
  table.tHead.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (button) sort(button.dataset.by, button.closest("th").getAttribute("aria-sort") === "ascending");
  });
  table.addEventListener("click", event => {
    const row = event.target.closest("tr.head");
    if (!row || event.target.closest("a")) return;
    const more = row.parentElement.querySelector("details");
    more.open = !more.open;
  });
  addEventListener("hashchange", follow);
  filter();
  follow();
})();
