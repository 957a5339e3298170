import { signal } from "@preact/signals";

const KEY = "signalbox.theme";
const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** The selected theme; `auto` follows the system. */
export const theme = signal<Theme>(read());

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", applyTheme);

/** Applies the theme to the page, and the color of its background to the bars of the browser on a phone. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
  const { backgroundColor } = getComputedStyle(document.documentElement);
  document.querySelector("meta[name=theme-color]")?.setAttribute("content", backgroundColor);
}

/** Selects the next theme. After `auto` comes the opposite of the system's theme, so that each click has an effect. */
export function nextTheme(): void {
  const order: Theme[] = dark.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
  const next = order[(order.indexOf(theme.value) + 1) % order.length] as Theme;
  theme.value = next;
  applyTheme();
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Storage is disabled: the selection lasts until the page is closed.
  }
}

function read(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return THEMES.find((one) => one === stored) ?? "auto";
  } catch {
    return "auto";
  }
}
