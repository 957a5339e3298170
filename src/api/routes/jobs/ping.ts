import Type from "typebox";
import { textLines } from "../../../models/jobs/log/logLine.ts";
import { type Ping, pingJob } from "../../../models/jobs/pings/pingJob.ts";
import * as s from "../../../wire/blocks.ts";
import { type Caller, jobOf, mayDo } from "../../auth/caller.ts";
import type { ApiDeps } from "../../deps.ts";
import * as examples from "../../examples/jobs.ts";
import { route } from "../../routing/route.ts";
import * as q from "../../schemas/requests.ts";
import { keptTraceparent, traceHeader } from "../../traceparent.ts";
import { MAX_LOG_BYTES } from "./stepLog.ts";

const query = Type.Object(
  {
    new: Type.Optional(
      Type.Enum(["1"], {
        description:
          "If the newest run of this job has ended, the ping begins another one: a job whose id is this one with the time as its suffix. The response is then `ok` and the id of the job.",
      }),
    ),
  },
  q.closed,
);

const headers = Type.Object(traceHeader);

const answers = {
  200: Type.String({
    description: "`ok`; with `new=1` followed by a space and the id of the job.",
  }),
} as const;

const errors = ["job_not_found", "too_many_steps", "body_too_large", "unsupported_media_type"] as const;

/** Maximum characters of a message. A longer body, such as the output of a program, is cut at its beginning. */
const MAX_MESSAGE_CHARS = 65_536;

const messageOf = (text: string): string => text.trim().slice(-MAX_MESSAGE_CHARS).toWellFormed();

interface Request {
  readonly authContext: Caller;
  readonly params: { readonly jobId: string };
  readonly query: { readonly new?: "1" };
  readonly headers: { readonly traceparent?: string };
  readonly text: string;
}

async function answerPing(
  { params, query, headers, text, authContext }: Request,
  ping: Ping,
  { stores, metrics, clock }: ApiDeps,
) {
  const mayCreate = mayDo(authContext, "jobs:create");
  // a job token is for this very job
  const followRuns = jobOf(authContext)?.jobId !== params.jobId;
  const startNew = query.new === "1" && followRuns;
  const trace = keptTraceparent(stores, headers);
  const options = { message: messageOf(text), startNew, mayCreate, followRuns, ...trace };
  const result = await pingJob(stores, params.jobId, ping, options, clock);
  metrics.countPing(result);
  return { status: 200 as const, body: query.new === "1" ? `ok ${result.jobId}\n` : "ok\n" };
}

const ping = route({
  method: "post",
  path: "/api/ping/:jobId",
  operationId: "ping",
  scopes: ["jobs:report"],
  authContext: "api",
  tag: "steps",
  summary: "Ping a job",
  description:
    "For scripts and cron jobs: plain text and no JSON. Reports on the newest run of the job, if `new=1` has begun others. Creates the job if it does not exist, which needs the scope `jobs:create`, and reports on its step `ping`, which covers the whole job. The body, if there is one, becomes the message.",
  example: examples.ping,
  textBody: true,
  schemas: { params: Type.Object({ jobId: s.JobId }), query, headers },
  answers,
  errors,
  handler: (input, deps) => answerPing(input, { kind: "running" }, deps),
});

const pingPercent = route({
  method: "post",
  path: "/api/ping/:jobId/:state",
  operationId: "pingState",
  scopes: ["jobs:report"],
  authContext: "api",
  tag: "steps",
  summary: "Ping a job with its progress or its end",
  description:
    "The last part of the path says what to report: `done` completes the job, with the body as `message` of its output; `fail` fails it. A number is the progress in percent. Progress never decreases.",
  example: examples.pingState,
  textBody: true,
  schemas: {
    params: Type.Object({
      jobId: s.JobId,
      state: Type.String({
        pattern: q.PING_STATE_PATTERN,
        description: "`done`, `fail`, or the progress in percent, from 0 to less than 100.",
      }),
    }),
    query,
    headers,
  },
  answers,
  errors,
  handler(input, deps) {
    const { state } = input.params;
    return answerPing(
      input,
      state === "done" || state === "fail" ? { kind: state } : { kind: "running", percent: Number(state) },
      deps,
    );
  },
});

const pingExit = route({
  method: "post",
  path: "/api/ping/:jobId/exit/:code",
  operationId: "pingExit",
  scopes: ["jobs:report"],
  authContext: "api",
  tag: "steps",
  summary: "Ping a job with an exit code",
  description:
    "The code 0 completes the job; any other code fails it. `./backup.sh; curl -X POST $url/api/ping/backup/exit/$?` is all that a cron job needs.",
  example: examples.pingExit,
  textBody: true,
  schemas: {
    params: Type.Object({
      jobId: s.JobId,
      code: Type.Integer({
        minimum: -2_147_483_648,
        maximum: 4_294_967_295,
        format: "int64",
        description: "The exit code, in a shell `$?`.",
      }),
    }),
    query,
    headers,
  },
  answers,
  errors,
  handler(input, deps) {
    const exitCode = input.params.code;
    return answerPing(input, { kind: exitCode === 0 ? "done" : "fail", exitCode }, deps);
  },
});

const pingLog = route({
  method: "post",
  path: "/api/ping/:jobId/log",
  operationId: "pingLog",
  scopes: ["jobs:report"],
  authContext: "api",
  tag: "steps",
  summary: "Ping a job with lines of its log",
  description:
    "Adds the lines of the body to the log of the step `ping`, also after its end. Status, progress and message stay as they are.",
  example: examples.pingLog,
  textBody: true,
  bodyLimit: MAX_LOG_BYTES,
  schemas: { params: Type.Object({ jobId: s.JobId }), query, headers },
  answers,
  errors,
  handler(input, deps) {
    const log = textLines(input.text, deps.clock.now(), input.authContext.hideToken);
    return answerPing({ ...input, text: "" }, { kind: "log", log }, deps);
  },
});

export const pingRoutes = [ping, pingLog, pingPercent, pingExit];
