import { now } from "../clock.ts";
import { absolute, ago } from "../time.ts";

/** A time as its age, with the absolute time as its title. */
export function When({ time }: { time: string }) {
  const present = now.value;
  return (
    <time dateTime={time} title={absolute(time)}>
      {ago(time, present)}
    </time>
  );
}
