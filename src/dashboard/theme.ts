import { Store } from "./data/store.ts";

const KEY = "signalbox.theme";
const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** What the reader has chosen; `auto` follows the system. */
export const theme = new Store<Theme>(read());

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

/** Chooses the next one: the other than what is seen first, then back to the system's. */
export function nextTheme(): void {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const order: Theme[] = isDark ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
  const next = order[(order.indexOf(theme.value) + 1) % order.length] as Theme;
  theme.set(next);
  applyTheme();
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // the browser keeps nothing: the choice holds until the page is left
  }
}

function read(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return THEMES.find((one) => one === kept) ?? "auto";
  } catch {
    return "auto";
  }
}
