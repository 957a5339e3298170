import Type, { type Static } from "typebox";
import { CHANNELS } from "../../shared/channelNames.ts";
import * as s from "../blocks.ts";

/** The transitions of a job at which a session can be woken. */
export const RETURN_EVENTS = ["completed", "failed", "stale", "gate"] as const;
export type ReturnEvent = (typeof RETURN_EVENTS)[number];

/** The value of `sessionKey` with which a run names its own session. */
export const OWN_SESSION = "self";

export const ReturnEvent = Type.Enum([...RETURN_EVENTS], {
  title: "ReturnEvent",
  description:
    "`completed` and `failed`: the job ended. `stale`: it was not reported for too long. `gate`: a question of it was answered or has expired.",
});

const On = Type.Array(ReturnEvent, {
  minItems: 1,
  maxItems: RETURN_EVENTS.length,
  uniqueItems: true,
  description: "When the session is woken.",
});
const Deliver = Type.Boolean({ description: "Whether the reply is sent to a channel." });
const CHANNEL = { description: "The channel for the reply; `last` is that of the main session." };
const To = s.nullable(Type.String({ minLength: 1, maxLength: 1_024 }), {
  description: "The recipient; null means that of the main session.",
});

/** The session that a job wakes, as clients read it. */
export const ReturnTo = Type.Object(
  {
    sessionKey: Type.String({ description: "The session that is woken." }),
    on: On,
    deliver: Deliver,
    channel: Type.String(CHANNEL),
    to: To,
  },
  s.named("ReturnTo"),
);

const SessionKey = s.Identifier(
  "The key of a session that exists. The token of a run sends `self`, which is the session of that run.",
);

/** The session that a job wakes, as clients name it with more than its key. */
export const ReturnTarget = Type.Object(
  {
    sessionKey: SessionKey,
    on: Type.Optional(On),
    deliver: Type.Optional(Deliver),
    channel: Type.Optional(Type.Enum([...CHANNELS, "last"], CHANNEL)),
    to: Type.Optional(To),
  },
  s.named("ReturnTarget"),
);

/** The session that a job wakes, as clients name it: its key, or more. */
export const ReturnToChange = Type.Union([SessionKey, ReturnTarget], {
  description:
    "The session of the agent that is woken when the job ends, or by the transitions in `on` (by default `completed` and `failed`). `deliver` is false by default.",
});
export type ReturnToChange = Static<typeof ReturnToChange>;

/** A transition of a job that has woken a session. */
export const JobReturn = Type.Object(
  {
    event: ReturnEvent,
    runId: s.nullable(Type.String(), {
      description: "The run that the session received; null if the session no longer existed.",
    }),
    at: s.Timestamp("When the transition happened."),
  },
  s.named("JobReturn"),
);
export type JobReturn = Static<typeof JobReturn>;

/** A transition of a job that a return run is about. */
export const ReturnOf = Type.Object(
  { jobId: Type.String({ description: "The job." }), event: ReturnEvent },
  s.named("ReturnOf"),
);
export type ReturnOf = Static<typeof ReturnOf>;
