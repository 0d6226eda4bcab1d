document.querySelectorAll(".claims").forEach(section => {
  const form = section.querySelector("form"), wanted = form.elements;
  const rows = [...section.querySelectorAll("tr[id]")], bodies = [...section.querySelectorAll("tbody")];
  const heads = [...section.querySelectorAll("thead th")];
  const filter = () => {
    const text = wanted.text.value.trim().toLowerCase();
    const differs = (row, key) => wanted[key].value !== "all" && wanted[key].value !== row.dataset[key];
    rows.forEach(row => {
      row.hidden = differs(row, "paper") || differs(row, "verdict") || !row.textContent.toLowerCase().includes(text);
    });
    bodies.forEach(body => { body.rows[0].hidden = [...body.rows].slice(1).every(row => row.hidden); });
    form.querySelector("output").textContent = rows.filter(row => !row.hidden).length + " of " + rows.length;
  };
  // What has no number comes last in either direction.
  const compare = (a, b, sign) => {
    if (!("sort" in a.dataset)) return sign * a.textContent.localeCompare(b.textContent);
    const [x, y] = [Number(a.dataset.sort), Number(b.dataset.sort)];
    return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => compare(a.cells[column], b.cells[column], down ? -1 : 1));
      rows.forEach(row => row.parentElement.append(row));  // below the name of its paper
    });
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", event => event.preventDefault());
  form.hidden = false;
  filter();
});
