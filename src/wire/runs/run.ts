import Type, { type Static } from "typebox";
import * as s from "../blocks.ts";
import { Delivery } from "../delivery.ts";
import { ReturnOf } from "./return.ts";
import { UsageOrNull } from "./usage.ts";

export const RunStatus = Type.Enum(["queued", "waiting", "running", "completed", "failed", "dropped"], {
  title: "RunStatus",
  description:
    "`waiting`: a budget is used up, and a person decides whether the run goes on. `dropped`: the transform of the mapping decided that the request needs no run.",
});

/** Why a run failed. */
export const RunError = Type.Object(
  {
    code: Type.String({ description: "One of the error codes at /docs/errors." }),
    message: Type.String({
      description:
        "The problem and how to correct it. A second line holds the words of the model server; a request with the hook token does not get it.",
    }),
  },
  s.named("RunError"),
);

/** A placeholder without a value. */
export const MissingValue = Type.Object(
  {
    path: Type.String({ description: "The path between the braces of the template." }),
    didYouMean: s.nullable(Type.String(), {
      description: "The path of a value of the request that is spelled alike; null if there is none.",
    }),
  },
  s.named("MissingValue"),
);

/** Returns the schema of placeholders without a value. */
export const MissingValues = (description: string) => Type.Array(MissingValue, { description });

const Stderr = (description: string) => Type.Optional(Type.String({ description }));

export const WaitsFor = Type.Object(
  {
    kind: Type.Enum(["run", "session", "time", "worker", "answer"], {
      description:
        "`run`: an earlier run of the session. `session`: another turn in the session. `time`: the pause after a failed attempt. `worker`: a worker with a free place. `answer`: a person's answer to the question of a budget.",
    }),
    runId: s.nullable(Type.String(), {
      description:
        "The earliest run of the session that has not ended for `run`. For `answer` the run on whose job the question is: they have the same id. Otherwise null.",
    }),
    notBefore: s.TimestampOrNull("The earliest time of the next attempt; null unless `kind` is `time`."),
  },
  {
    additionalProperties: false,
    title: "WaitsFor",
    description:
      "Why the run has not started. Only in the response for a single run that is queued or waiting, and not with the hook token.",
  },
);

export type WaitsFor = Static<typeof WaitsFor>;

const head = {
  runId: Type.String({ description: "Identifies the run." }),
  kind: Type.Enum(["agent", "wake", "return", "job"], {
    title: "RunKind",
    description:
      "`agent`: a run of the agent. `wake`: an event for the main session. `return`: a run with the news of jobs that the session started. `job`: a report of a job, without an agent.",
  }),
  jobId: Type.Optional(Type.String({ description: "The job that it reported; present with `kind: job`." })),
  name: s.nullable(Type.String(), { description: "Name from the request or the mapping, for people." }),
  mapping: s.nullable(Type.String(), {
    description: "Name of the mapping that made the run; null for a request to the agent hook.",
  }),
  sessionKey: s.nullable(Type.String(), {
    description: "The conversation of the run. Null if the request is authenticated with the hook token.",
  }),
  agentId: s.nullable(Type.String(), {
    description:
      "The agent of `agents.list`; null for that of `agents.defaults`, and until the mapping has been applied.",
  }),
  status: RunStatus,
  attempts: Type.Integer({ minimum: 0, description: "Number of attempts so far." }),
  error: s.nullable(RunError, { description: "Why the run failed; null otherwise." }),
  createdAt: s.Timestamp("When the request was accepted."),
  startedAt: s.TimestampOrNull("When the latest attempt started."),
  endedAt: s.TimestampOrNull("When the run ended."),
};

/** A run as the live events show it. */
export const RunHead = Type.Object(head, s.named("RunHead"));

export type RunHead = Static<typeof RunHead>;

/** A changed run for a caller that may not read runs. */
export const RunReceipt = {
  unless: ["runs:read"],
  schema: Type.Pick(RunHead, ["runId", "status", "createdAt", "startedAt", "endedAt"], s.named("RunReceipt")),
} as const;

export const FailedRunAttempt = s.FailedAttempt(
  "FailedRunAttempt",
  { ...RunError, description: "Why the attempt failed." },
  { stderr: Stderr("The end of what the program of this attempt wrote to standard error, at most 4 KiB.") },
);

export const Run = Type.Object(
  {
    ...head,
    reply: s.nullable(Type.String(), {
      description: "The answer of the agent, or what it had written when a budget ended its turn; null otherwise.",
    }),
    replyCutOff: Type.Boolean({
      description: "Whether the end of the reply is missing, because the model reached its length limit.",
    }),
    usage: UsageOrNull(
      "Sum of what all attempts used, failed ones included, as the model server or the program reported it. Null if nothing was reported.",
    ),
    deliveries: Type.Array(Delivery, { description: "The deliveries of the reply to chat channels." }),
    requestId: s.nullable(Type.String(), {
      description:
        "The kept request that the run was made of: `GET /api/hooks/requests/{requestId}`. Null if it was not kept.",
    }),
    replayOf: s.nullable(Type.String(), {
      description: "The kept request of which the run is a replay; null for other runs.",
    }),
    againOf: s.nullable(Type.String(), {
      description: "The `runId` of the ended run whose request this run repeats; null for other runs.",
    }),
    returnOf: Type.Array(ReturnOf, {
      description: "The transitions of jobs of which a run of the kind `return` has the news; empty for other runs.",
    }),
    failedAttempts: s.FailedAttempts(
      FailedRunAttempt,
      "The latest 20 failed attempts, oldest first. Only in the response for a single run, if an attempt has failed.",
    ),
    missingValues: Type.Optional(
      MissingValues(
        "The placeholders of the mapping that had no value, at most 20. Only in the response for a single run, if there are any, and not with the hook token.",
      ),
    ),
    stderr: Stderr(
      "The end of what the program of the latest attempt wrote to standard error, at most 4 KiB, with the values of its variables masked. Only in the response for a single run, if it wrote something, and not with the hook token.",
    ),
    waitsFor: Type.Optional(WaitsFor),
  },
  s.named("Run"),
);
export type Run = Static<typeof Run>;

/** The input of a run. */
export const RunRequest = Type.Object(
  {
    request: s.nullable(
      Type.Object(
        {
          message: Type.String({ description: "The message for the agent." }),
          wakeMode: Type.String({ description: "When the main session reads the summary of the run." }),
          deliver: Type.Boolean({ description: "Whether the reply is sent to a channel." }),
          channel: Type.String({ description: "The channel for the reply, or `last`." }),
          to: s.nullable(Type.String(), { description: "The recipient; null means that of the main session." }),
          model: s.nullable(Type.String(), { description: "The model; null means the configured default." }),
          thinking: s.nullable(Type.String(), { description: "The reasoning effort; null means the default." }),
          timeoutSeconds: Type.Number({ description: "Time limit of one attempt." }),
          trackAsJob: Type.Boolean({ description: "Whether the run is also a job." }),
          agentId: Type.Optional(
            Type.String({ description: "The agent of `agents.list`; missing for that of `agents.defaults`." }),
          ),
          instructions: Type.Optional(
            Type.String({ description: "Instructions of the operator, which precede the message." }),
          ),
          allowUnsafe: Type.Optional(
            Type.Boolean({
              description: "True if the message is used as the prompt without the fence for untrusted content.",
            }),
          ),
        },
        s.named("AgentRequest"),
      ),
      { description: "Null until the mapping has been applied, and for an event of the main session." },
    ),
    call: s.nullable(
      Type.Object(
        {
          mapping: Type.String({ description: "Name of the mapping." }),
          path: s.nullable(Type.String(), { description: "Name of the hook in the URL." }),
          payload: Type.Unsafe<unknown>({
            description: "The body of the request; null after the mapping has been applied.",
          }),
        },
        s.named("HookCall"),
      ),
      { description: "The request to the mapped hook; null for other runs." },
    ),
  },
  s.named("RunRequest"),
);
export type RunRequest = Static<typeof RunRequest>;

/** The number of runs by status. */
export const RunStats = Type.Object(
  {
    runs: Type.Object(
      {
        total: s.Count("Number of all runs."),
        queued: s.Count("Number of queued runs."),
        waiting: s.Count("Number of runs that wait for a person."),
        running: s.Count("Number of running runs."),
        completed: s.Count("Number of completed runs."),
        failed: s.Count("Number of failed runs."),
        dropped: s.Count("Number of dropped runs."),
      },
      { ...s.named("RunCounts"), description: "The runs by status." },
    ),
    capped: Type.Boolean({ description: "Whether there are more runs, so that each number is a lower bound." }),
  },
  s.named("RunStats"),
);
export type RunStats = Static<typeof RunStats>;
