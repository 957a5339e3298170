import { useLayoutEffect } from "preact/hooks";

/** The colours of the mark that the icon of the tab has in a state. */
const MARKS: Readonly<Record<string, string>> = {
  running: "#7098ff",
  waiting: "#f2b755",
  stale: "#f2b755",
  completed: "#3fc380",
  failed: "#f0525c",
  cancelled: "#98a3b5",
};

/**
 * Sets the title of the tab before the page is painted: a later effect would be delayed on a busy machine.
 * @param state the state of the record that the page shows; the title begins with it, and the icon has its colour
 */
export function useTitle(title: string, state?: string): void {
  useLayoutEffect(() => {
    const word = state && `${state.charAt(0).toUpperCase()}${state.slice(1)} · `;
    document.title = `${word ?? ""}${title} · Signalbox`;
  }, [title, state]);
  useLayoutEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    const colour = state && MARKS[state];
    if (!icon || !colour) return;
    const plain = icon.getAttribute("href") ?? "";
    icon.href = iconWith(colour);
    return () => {
      icon.href = plain;
    };
  }, [state]);
}

const iconWith = (colour: string): string =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2453c4"/><path d="M8 11h16M8 21c6 0 10-10 16-10" stroke="#fff" stroke-width="2.5" fill="none" stroke-linecap="round"/><circle cx="22" cy="22" r="9" fill="${colour}" stroke="#fff" stroke-width="2"/></svg>`,
  )}`;
