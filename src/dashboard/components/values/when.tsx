import { signal } from "@preact/signals";
import { now } from "../../clock.ts";
import { absolute, ago } from "../../time.ts";

/** A time as its age. A click switches all times of the page to the browser's time zone, to UTC, and back. */
export function When({ time }: { time: string }) {
  const present = now.value;
  return (
    <button type="button" class="time-button" title={allForms(time, present)} onClick={nextTimeForm}>
      <time dateTime={time}>{formatTime(time, present)}</time>
    </button>
  );
}

const KEY = "signalbox.times";
const FORMS = ["age", "local", "utc"] as const;

/** The form of all times of the page: ages, the browser's time zone, or UTC. */
const timeForm = signal<(typeof FORMS)[number]>(read());

/** Shows all times in the next form, also after the page is opened again. */
function nextTimeForm(): void {
  const next = FORMS[(FORMS.indexOf(timeForm.value) + 1) % FORMS.length] ?? "age";
  timeForm.value = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Storage is disabled: the form lasts until the page is closed.
  }
}

/** Returns a time in the selected form. */
function formatTime(time: string, now: number): string {
  if (timeForm.value === "age") return ago(time, now);
  return timeForm.value === "utc" ? utc(time) : local(new Date(time));
}

/** Returns a time in all forms, for a tooltip. */
const allForms = (time: string, now: number): string => `${ago(time, now)}\n${absolute(time)}\n${utc(time)}`;

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
