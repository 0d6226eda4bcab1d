document.querySelectorAll(".claims").forEach(section => {
  const form = section.querySelector("form"), wanted = form.elements;
  const body = section.querySelector("tbody"), rows = [...body.rows];
  const heads = [...section.querySelectorAll("th")];
  const filter = () => {
    const text = wanted.text.value.trim().toLowerCase();
    const differs = (row, key) => wanted[key].value !== "all" && wanted[key].value !== row.dataset[key];
    rows.forEach(row => {
      row.hidden = differs(row, "paper") || differs(row, "verdict") || !row.textContent.toLowerCase().includes(text);
    });
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
      body.append(...rows);
    });
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", event => event.preventDefault());
  form.hidden = false;
  filter();
});
