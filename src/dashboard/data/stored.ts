import { type Signal, signal } from "@preact/signals";

/** A setting that this browser keeps. */
export interface Stored<T> {
  readonly value: Signal<T>;
  readonly set: (value: T) => void;
}

/**
 * Returns a setting of this browser.
 * @param read converts the stored JSON; receives undefined if there is none
 */
export function stored<T>(key: string, read: (json: unknown) => T): Stored<T> {
  const value = signal(read(load(key)));
  const set = (next: T) => {
    value.value = next;
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // Storage is disabled: the setting lasts until the page is closed.
    }
  };
  return { value, set };
}

function load(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "");
  } catch {
    return undefined;
  }
}
