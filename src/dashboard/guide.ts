/** The script of the guide, whose pages work without it: the theme, buttons that copy code, and answers while a search is typed. */

const THEME = "signalbox.theme"; // as in theme.ts, which needs the dashboard's libraries
const SEARCH_AFTER_MS = 80;

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");

try {
  root.dataset.theme = localStorage.getItem(THEME) ?? "auto";
} catch {
  // Storage is disabled: the theme is that of the system.
}

document.addEventListener("DOMContentLoaded", () => {
  addThemeButton();
  for (const block of document.querySelectorAll<HTMLElement>(".command")) addCopyButton(block);
  const form = document.querySelector<HTMLFormElement>("form[role=search]");
  if (form) answerWhileTyping(form, form.querySelector("input") as HTMLInputElement);
});

/** Returns a button with an icon: a path in a square of 16 by 16. */
function iconButton(label: string, shape: string, onClick: (button: HTMLButtonElement) => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "icon-button";
  button.title = label;
  button.ariaLabel = label;
  button.innerHTML = `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="${shape}"/></svg>`;
  button.addEventListener("click", () => onClick(button));
  return button;
}

function addThemeButton(): void {
  const button = iconButton(
    "Change the theme",
    "M8 1.75a6.25 6.25 0 1 0 .01 0M8 2v12M8.5 5h3.5M8.5 8h5.3M8.5 11h3.5",
    () => {
      const { theme } = root.dataset;
      const isDark = theme === "dark" || (theme !== "light" && dark.matches);
      root.dataset.theme = isDark ? "light" : "dark";
      try {
        localStorage.setItem(THEME, root.dataset.theme);
      } catch {
        // It lasts until the page is left.
      }
    },
  );
  document.querySelector(".top")?.append(button);
}

function addCopyButton(block: HTMLElement): void {
  const code = block.querySelector("code") as HTMLElement;
  const button = iconButton("Copy the code", "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3", async ({ classList }) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection()?.selectAllChildren(code); // Browsers provide the clipboard only to pages from https or localhost.
      document.execCommand("copy");
    }
    classList.add("done");
    setTimeout(() => classList.remove("done"), 2_000);
  });
  block.append(button);
}

/** Shows below the field what the page of the form would show. The arrow keys move between the results. */
function answerWhileTyping(form: HTMLFormElement, field: HTMLInputElement): void {
  const place = document.createElement("div");
  place.className = "found popover";
  place.hidden = true;
  form.append(place);
  let latest = new AbortController();
  const search = async () => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    place.hidden = field.value.trim() === "";
    if (place.hidden) return;
    await new Promise((done) => setTimeout(done, SEARCH_AFTER_MS));
    if (signal.aborted) return;
    try {
      const response = await fetch(`${form.action}?${new URLSearchParams({ q: field.value })}`, { signal });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      place.replaceChildren(...(page.querySelector(".hits")?.childNodes ?? []));
    } catch {
      // A later text is searched, or the service cannot be reached: the form leads to its answer.
    }
  };
  const close = () => {
    latest.abort();
    place.hidden = true;
  };
  field.addEventListener("input", search);
  field.addEventListener("focus", search);
  form.addEventListener("focusout", ({ relatedTarget }) => {
    if (!form.contains(relatedTarget as Node | null)) close();
  });
  form.addEventListener("keydown", (event) => {
    const stops = [field, ...place.querySelectorAll("a")];
    const at = stops.indexOf(event.target as HTMLInputElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Escape: 0 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    stops.at(to % stops.length)?.focus();
    if (event.key === "Escape") close();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    const isShortcut = (event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey));
    if (!isShortcut) return;
    event.preventDefault();
    field.select();
  });
}
