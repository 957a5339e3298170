import type { Readable } from "node:stream";
import Type, { type TSchema } from "typebox";
import * as s from "../../wire/blocks.ts";
import { Delivery } from "../../wire/delivery.ts";
import { JobHead } from "../../wire/job.ts";
import { RunHead } from "../../wire/runs/run.ts";
import { RUN_EVENTS } from "../../wire/runs/runEvent.ts";
import { StepSummary } from "../../wire/step.ts";

/** The schemas of the server-sent events. `data` is described as the object that its JSON contains. */

const liveEvent = (name: string, title: string, data: TSchema, description: string) => ({
  name,
  title,
  schema: Type.Object(
    {
      event: Type.Literal(name, { description: "Kind of the event." }),
      data,
      id: Type.Optional(
        Type.String({ description: "Position in the stream, to resume from. Not every event has one." }),
      ),
    },
    { title, description },
  ),
});

const EVENTS = {
  state: liveEvent(
    "state",
    "StateEvent",
    Type.Object(
      { live: Type.Boolean({ description: "False while Redis cannot be reached, and no changes arrive." }) },
      s.named("StreamState"),
    ),
    "The first event of each stream, and each change of its state.",
  ),
  job: liveEvent("job", "JobEvent", JobHead, "The current state of a job."),
  jobRemoved: liveEvent(
    "job_removed",
    "JobRemovedEvent",
    Type.Object({ jobId: s.JobId }, s.named("RemovedJob")),
    "The job was deleted, or no longer matches the filters.",
  ),
  step: liveEvent("step", "StepEvent", StepSummary, "The current state of a step, without its output."),
  log: liveEvent(
    "log",
    "LogEvent",
    Type.Object(
      {
        jobId: s.JobId,
        stepKey: s.StepKey,
        from: s.Count("The number of the first new line."),
        to: s.Count("The number of the last new line."),
      },
      s.named("AddedLines"),
    ),
    "Lines were added to the log of a step.",
  ),
  run: liveEvent("run", "RunEvent", RunHead, "The current state of a run, without its reply and deliveries."),
  delivery: liveEvent("delivery", "DeliveryEvent", Delivery, "The current state of a delivery."),
  reload: liveEvent(
    "reload",
    "ReloadEvent",
    Type.Object(
      {
        reason: Type.Enum(["gap", "behind", "many"], {
          description:
            "`gap`: changes may be missing. `behind`: you read too slowly. `many`: too many changed at once.",
        }),
      },
      s.named("Reload"),
    ),
    "Your data may be out of date: read it again over the API.",
  ),
};

type Event = ReturnType<typeof liveEvent>;

/** Returns the schema of a stream: one of the events. */
function stream(title: string, all: readonly Event[]) {
  const mapping = all.map(({ name, title }) => [name, `#/components/schemas/${title}`]);
  return Type.Unsafe<Readable>({
    title,
    description:
      "One server-sent event. It is sent as lines `event:`, `data:` with the JSON of `data`, and `id:`. The guide explains the events: /guide/reference/events.",
    oneOf: all.map(({ schema }) => schema),
    discriminator: { propertyName: "event", mapping: Object.fromEntries(mapping) },
  });
}

const { state, job, jobRemoved, step, log, run, delivery, reload } = EVENTS;

/** The events of the stream of all records. */
export const LiveEvent = stream("LiveEvent", [state, job, jobRemoved, log, run, delivery, reload]);
/** The events of the stream of one job. */
export const LiveJobEvent = stream("LiveJobEvent", [state, job, jobRemoved, step, log, reload]);

const titleOf = (name: string) => name.replaceAll(/(?:^|\.)(\w)/g, (_, first: string) => first.toUpperCase());

/** `tool.started` has the title ToolStartedEvent. `usage` and `log` are named after the run, since jobs have such events too. */
const runEvents = Object.entries(RUN_EVENTS).map(([name, { about, data }]) =>
  liveEvent(name, `${titleOf(name.includes(".") ? name : `run.${name}`)}Event`, data, about),
);

/** The events of the stream of one run. */
export const LiveRunEvent = stream("LiveRunEvent", [...runEvents, reload]);
