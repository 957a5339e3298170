import { now } from "../../clock.ts";
import { stored } from "../../data/stored.ts";
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

/** A time after words about it, or other words if it is null. */
export function Since({ text, time, none }: { text: string; time: string | null; none: string }) {
  if (time === null) return <>{none}</>;
  return (
    <>
      {text} <When time={time} />
    </>
  );
}

const FORMS = ["age", "local", "utc"] as const;

/** The form of all times of the page, also after it is opened again: ages, the browser's time zone, or UTC. */
const timeForm = stored("signalbox.times", (json) => FORMS.find((one) => one === json) ?? "age");

/** Shows all times in the next form. */
function nextTimeForm(): void {
  timeForm.set(FORMS[(FORMS.indexOf(timeForm.value.value) + 1) % FORMS.length] ?? "age");
}

/** Returns a time in the selected form. */
function formatTime(time: string, now: number): string {
  const form = timeForm.value.value;
  if (form === "age") return ago(time, now);
  return form === "utc" ? utc(time) : local(new Date(time));
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
