import { signal } from "@preact/signals";
import { absolute, ago } from "./time.ts";

const KEY = "signalbox.times";
const FORMS = ["age", "local", "utc"] as const;

/** The form of all times of the page: ages, the browser's time zone, or UTC. */
const timeForm = signal<(typeof FORMS)[number]>(read());

/** Shows all times in the next form, also after the page is opened again. */
export function nextTimeForm(): void {
  const next = FORMS[(FORMS.indexOf(timeForm.value) + 1) % FORMS.length] ?? "age";
  timeForm.value = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Storage is disabled: the form lasts until the page is closed.
  }
}

/** Returns a time in the selected form. */
export function formatTime(time: string, now: number): string {
  if (timeForm.value === "age") return ago(time, now);
  return timeForm.value === "utc" ? utc(time) : local(new Date(time));
}

/** Returns a time in all forms, for a tooltip. */
export const allForms = (time: string, now: number): string => `${ago(time, now)}\n${absolute(time)}\n${utc(time)}`;

const utc = (time: string): string => `${new Date(time).toISOString().slice(0, 19).replace("T", " ")}Z`;

/** Formats a time like UTC, in the browser's time zone. */
function local(date: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

function read(): (typeof FORMS)[number] {
  try {
    const stored = localStorage.getItem(KEY);
    return FORMS.find((one) => one === stored) ?? "age";
  } catch {
    return "age";
  }
}
