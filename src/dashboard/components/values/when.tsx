import { now } from "../../clock.ts";
import { allForms, formatTime, nextTimeForm } from "../../times.ts";

/** A time as its age. A click switches all times of the page to the browser's time zone, to UTC, and back. */
export function When({ time }: { time: string }) {
  const present = now.value;
  return (
    <button type="button" class="time-button" title={allForms(time, present)} onClick={nextTimeForm}>
      <time dateTime={time}>{formatTime(time, present)}</time>
    </button>
  );
}
