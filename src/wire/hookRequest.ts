import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";
import { Link } from "./link.ts";
import { MissingValues, RunError } from "./runs/run.ts";

/**
 * The outcome of a request. `accepted`: its runs were made, and none of them has failed. `dropped`: the transform dropped all
 * of them. `failed`: one of them has failed. `filtered`: no mapping wanted it. `refused`: it was answered with an error.
 */
export const OUTCOMES = ["accepted", "dropped", "failed", "filtered", "refused"] as const;
export type RequestOutcome = (typeof OUTCOMES)[number];

/** The ways in which a sender proves itself. */
export const SIGNATURE_TYPES = [
  "hook-token",
  "token",
  "github",
  "stripe",
  "slack",
  "standard-webhooks",
  "hmac",
  "sendgrid",
  "sns",
] as const;
export const VERDICTS = ["valid", "missing", "malformed", "expired", "wrong"] as const;

const text = (description: string) => s.nullable(Type.String(), { description });

const row = {
  requestId: Type.String({ description: "Identifies the kept request." }),
  createdAt: s.Timestamp("When the request arrived."),
  hook: Type.String({ description: "Name of the hook in the URL." }),
  mapping: text("The mapping that took or filtered the request; null if there is none."),
  event: text("The event that the request names, such as `issues · opened`; null if it names none."),
  object: text("The object of the event, such as a repository; null if the request names none."),
  outcome: Type.Enum([...OUTCOMES], {
    description:
      "`accepted`: it started its runs, and none of them has failed. `dropped`: the transform dropped all of them. `failed`: one of them has failed. `filtered`: `match.when` of the mapping left it out. `refused`: it was answered with an error.",
  }),
  status: s.nullable(Type.Integer(), { description: "The HTTP status of the response; null for a mail." }),
  code: text("The error code of a refused request; null otherwise."),
  reason: text(
    "Why the request was refused or filtered, for people: the verdict on the sender in words, or the conditions that were not met. Null otherwise.",
  ),
  signature: s.nullable(
    Type.Object(
      {
        type: Type.Enum([...SIGNATURE_TYPES], { description: "How the sender had to prove itself." }),
        verdict: Type.Enum([...VERDICTS], { description: "The result of the verification when the request arrived." }),
      },
      s.named("RequestSignature"),
    ),
    { description: "The verification of the sender; null if there was none." },
  ),
  repeated: Type.Boolean({ description: "True if it repeats an earlier request, whose runs it returned." }),
  address: text("The address of the sender; null for a mail."),
  contentType: text("The header `Content-Type`."),
  bodyBytes: s.nullable(Type.Integer(), { description: "Size of the body as it was sent; null if it is not known." }),
  runIds: Type.Array(Type.String(), { description: "The runs that the request started or returned." }),
  jobIds: Type.Array(Type.String(), { description: "The jobs that it reported, by a mapping with `action: job`." }),
};

/** A kept request to a hook, as lists contain it. */
export const HookRequestRow = Type.Object(row, s.named("HookRequestRow"));
export type HookRequestRow = Static<typeof HookRequestRow>;

const Requests = (what: string) => s.Count(`Requests that ${what}.`);

/** The number of requests in an hour by outcome. */
const HookHour = Type.Object(
  {
    accepted: Requests("started their runs"),
    dropped: Requests("a transform dropped"),
    failed: Requests("have a failed run"),
    filtered: Requests("no mapping wanted"),
    refused: Requests("were answered with an error"),
  },
  s.named("HookHour"),
);
export type HookHour = Static<typeof HookHour>;

/** A hook: a name in the URL, with what senders have sent to it. */
export const Hook = Type.Object(
  {
    hook: Type.String({ description: "Name of the hook in the URL." }),
    mappings: Type.Array(Type.String(), {
      description: "The mappings that take its requests, in the order in which they are tried. Empty if none does.",
    }),
    sender: text("The preset of its first mapping, such as `github`; null without one."),
    address: text(
      "Address for the sender, beginning with `server.publicUrl`; only a path without that setting. Null if hooks are off, or no mapping names the hook.",
    ),
    last: s.nullable(HookRequestRow, {
      description: "The newest request of the last 24 hours that is kept; null if there is none.",
    }),
    hours: Type.Array(HookHour, {
      description: "The kept requests of the last 24 hours, one entry an hour, oldest first.",
    }),
  },
  s.named("Hook"),
);
export type Hook = Static<typeof Hook>;

const values = (description: string) =>
  Type.Unsafe<Readonly<Record<string, string | string[] | undefined>>>(s.FreeObject(description));

export const HookRequest = Type.Object(
  {
    ...row,
    url: Type.String({ description: "Path and query of the request. Values that may be secrets are `***`." }),
    headers: values("Headers of the request by lower-case name. Values that may be secrets are `***`."),
    query: values("Parameters of the URL. Values that may be secrets are `***`."),
    body: text("The body as it was sent; null for a refused request."),
    bodyEncoding: s.nullable(Type.Enum(["utf8", "base64"], { title: "BodyEncoding" }), {
      description:
        "`utf8`: `body` is the text itself. `base64`: the bytes are no text, for example because they are compressed.",
    }),
    payload: Type.Unsafe<unknown>({
      description: "The body as the mapping receives it: decoded and parsed. Null for a refused request.",
    }),
  },
  s.named("HookRequest"),
);
export type HookRequest = Static<typeof HookRequest>;

export const Replayed = Type.Object(
  {
    ok: s.Ok.properties.ok,
    mapping: text("The mapping that took the request; null if `match.when` of all mappings left it out."),
    runId: text("The first of `runIds`; null if there is none."),
    runIds: Type.Array(Type.String(), { description: "The new runs." }),
  },
  s.named("Replayed"),
);
export type Replayed = Static<typeof Replayed>;

/** A report of a job that a request would make. A field that is null stays as it is. */
const ReportPreview = Type.Object(
  {
    jobId: Type.String({ description: "The job." }),
    name: text("Name of the job."),
    step: s.nullable(
      Type.Object(
        {
          key: Type.String({ description: "Identifies the step." }),
          name: Type.String({ description: "Name of the step." }),
          from: Type.Optional(s.Progress("Progress of the job when the step begins.")),
          to: Type.Optional(s.Progress("Progress of the job when the step is complete.")),
          failJob: Type.Boolean({ description: "Whether a failure of the step fails the job." }),
        },
        s.named("ReportedStep"),
      ),
      { description: "The step that the report is about; null for the job itself." },
    ),
    status: s.nullable(s.Status, { description: "The status of the step, or of the job." }),
    progress: s.nullable(s.Progress(""), { description: "Progress of the step, or of the job." }),
    message: text("Message of the step or the job."),
    links: s.nullable(Type.Array(Link), { description: "Links of the step or the job." }),
    output: s.nullable(s.FreeObject(""), { description: "Output of what is completed." }),
  },
  s.named("ReportPreview"),
);

/** A run that a request would start. The fields are null where they do not apply. */
const RunPreview = Type.Object(
  {
    kind: s.nullable(Type.Enum(["agent", "wake", "job"], { title: "PreviewKind" }), {
      description:
        "`agent`: a run of the agent. `wake`: an event of the main session. `job`: reports of a job. Null after an error.",
    }),
    name: text("Name of the run."),
    message: text("The first 100,000 characters of the message for the agent, or of the text of the event."),
    sessionKey: text("The conversation; null for one of its own."),
    wakeMode: text("When the main session reads the event or the summary of the run."),
    deliver: s.nullable(Type.Boolean(), { description: "Whether the reply would be sent to a channel." }),
    channel: text("The channel for the reply, or `last`."),
    to: text("The recipient; null means that of the main session."),
    model: text("The model; null means the configured default."),
    reports: s.nullable(Type.Array(ReportPreview), {
      description: "The first 100 reports that the request would make; null unless `kind` is `job`.",
    }),
    missingValues: MissingValues("The placeholders of the mapping that have no value, at most 20."),
    values: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: "The path between the braces." }),
          value: text("The first 200 characters of its value; null if the request has none."),
        },
        s.named("PlaceholderValue"),
      ),
      { description: "The first 30 placeholders of the templates, each once." },
    ),
    error: s.nullable(RunError, { description: "Why the run would fail; null otherwise." }),
  },
  s.named("RunPreview"),
);
export type RunPreview = Static<typeof RunPreview>;

/** The result of the mappings for a request. */
export const DryRun = Type.Object(
  {
    dryRun: Type.Literal(true, { description: "Always true: nothing was stored or sent." }),
    mapping: text("The mapping that takes the request; null if none does."),
    reason: text("Why no mapping was compared with the request; null otherwise."),
    considered: Type.Array(
      Type.Object(
        {
          mapping: Type.String({ description: "Name of the mapping." }),
          unmet: text("The condition that the request does not meet: `match.source`, or a path of `match.when`."),
          reason: text("The unmet condition with the value of the request, for people."),
          conditions: Type.Array(
            Type.Object(
              {
                condition: Type.String({ description: 'The condition, such as `payload.action is "opened"`.' }),
                isMet: Type.Boolean({ description: "Whether the request meets it." }),
                found: text("The value of the request; null if there is none, `***` if it may be a secret."),
              },
              s.named("ComparedCondition"),
            ),
            { description: "The conditions of the mapping. Empty if `mapping` of the request names it." },
          ),
        },
        s.named("ConsideredMapping"),
      ),
      { description: "The mappings that were compared with the request, in their order." },
    ),
    transform: text("The transform of the mapping, which was not run; null if it has none."),
    runCount: s.Count("Number of runs that would start. With a transform they may be fewer."),
    runs: Type.Array(RunPreview, { description: "The first ten runs that would start." }),
  },
  s.named("DryRun"),
);
export type DryRun = Static<typeof DryRun>;

export const MappingName = Type.Optional(
  Type.String({ description: "The mapping to apply. By default the mappings are compared with the request." }),
);

/** A request to try the mappings on. */
export const TryHookRequest = Type.Object(
  {
    hook: Type.String({ minLength: 1, maxLength: 1_024, description: "Name of the hook: `match.path`." }),
    mapping: MappingName,
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: "Headers of the request, by name." }),
    ),
    query: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "Parameters of the URL." })),
    body: Type.String({ description: "Body of the request as text: JSON, or form fields if `headers` says so." }),
  },
  s.named("TryHookRequest"),
);
export type TryHookRequest = Static<typeof TryHookRequest>;
