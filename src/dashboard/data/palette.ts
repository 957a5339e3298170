import { signal } from "@preact/signals";

/** Whether the dialog that opens pages, jobs and runs is shown. */
export const isPaletteOpen = signal(false);

export function openPalette(): void {
  isPaletteOpen.value = true;
}
