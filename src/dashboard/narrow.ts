import { signal } from "@preact/signals";

const narrow = matchMedia("(max-width: 900px)");

/** Whether the window has room for one column only. */
export const isNarrow = signal(narrow.matches);

narrow.addEventListener("change", ({ matches }) => {
  isNarrow.value = matches;
});
