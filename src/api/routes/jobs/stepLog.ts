import Type, { type Static } from "typebox";
import { type LogLine, type LogLines, logLines, textLines } from "../../../models/jobs/log/logLine.ts";
import { readLastSeq, readLog } from "../../../models/jobs/log/readLog.ts";
import { invalidValue } from "../../../shared/errors.ts";
import * as s from "../../../wire/blocks.ts";
import { LogLevel, LogPage } from "../../../wire/log.ts";
import * as examples from "../../examples/jobs.ts";
import { route } from "../../routing/route.ts";
import { bodyCheck } from "../../routing/validate.ts";
import * as q from "../../schemas/requests.ts";

const params = Type.Object({ jobId: s.JobId, stepKey: s.StepKey });

/** Maximum size of the lines of one request in bytes. */
export const MAX_LOG_BYTES = 256 * 1024;

const TEXT = "text/plain";
const JSON_LINES = "application/x-ndjson";

const appendLog = route({
  method: "post",
  path: "/api/jobs/:jobId/steps/:stepKey/log",
  operationId: "appendLog",
  scopes: ["jobs:report"],
  authContext: "api",
  tag: "steps",
  summary: "Add lines to the log of a step",
  description:
    "Takes plain text, one line of the log a line, or JSON lines (`application/x-ndjson`) with `text`, and if known `at` and `level`. The response is sent once the lines are durable. Lines are no report: they change neither the job nor its step, and the job can still become stale.\n\nA line has at most 8 KiB; the rest of a longer one is dropped. The service keeps the first 64 KiB and the last 192 KiB of a step, and 4 MiB of a job; it only counts further lines. A carriage return leaves the last state of its line. Colours are kept, other escape sequences are removed, and your own token becomes `***`.",
  example: examples.appendLog,
  textBody: true,
  textTypes: [TEXT, JSON_LINES],
  bodyLimit: MAX_LOG_BYTES,
  schemas: { params },
  answers: { 204: q.NoContent },
  errors: ["job_not_found", "step_not_found", "invalid_body", "body_too_large", "unsupported_media_type"],
  async handler({ params: { jobId, stepKey }, text, textType, authContext }, { stores, clock }) {
    const isText = textType === TEXT || textType === "";
    const parse = isText ? textLines : jsonLines;
    await stores.logs.append(jobId, stepKey, parse(text, clock.now(), authContext.hideToken));
    return { status: 204, body: undefined };
  },
});

const JsonLine = Type.Object(
  { at: Type.Optional(s.Timestamp("")), level: Type.Optional(s.nullable(LogLevel)), text: Type.String() },
  q.closed,
);

/** Parses JSON lines; empty ones are ignored. @throws AppError invalid_body, which names the line */
function jsonLines(body: string, now: Date, hide?: (text: string) => string): LogLines {
  const entries = body.split("\n").flatMap((line, i): LogLine[] => {
    if (line.trim() === "") return [];
    const path = `line ${i + 1}`;
    const parsed = parseJson(line, path);
    bodyCheck(JsonLine, { at: `/${path}` })(parsed);
    const { at, level = null, text } = parsed as Static<typeof JsonLine>;
    return [{ at: at === undefined ? now : new Date(at), level, text }];
  });
  return logLines(entries, hide);
}

function parseJson(line: string, path: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw invalidValue(path, "must be a JSON object on one line");
  }
}

const MAX_LINES = 10_000;
const lineCount = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, description }));

const getLog = route({
  method: "get",
  path: "/api/jobs/:jobId/steps/:stepKey/log",
  operationId: "readLog",
  scopes: ["jobs:read"],
  tag: "steps",
  summary: "Read the log of a step",
  description:
    "Returns lines of the log, oldest first: those after the line number `after`, or the last ones with `tail`. To follow a log, send `next` as `after`, with `Prefer: wait=30`: the response is sent once there are further lines. `dropped` says how much the log does not keep.\n\nWith `Accept: text/plain` the response is the text of the lines, by default of all that are kept.",
  example: examples.readLog,
  schemas: {
    params,
    query: Type.Object(
      {
        after: Type.Optional(
          Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Lines after this one." }),
        ),
        limit: lineCount("Maximum number of lines, 1,000 by default."),
        tail: lineCount("Maximum number of lines, the last ones; in place of `limit`."),
      },
      q.closed,
    ),
    headers: Type.Object({
      accept: Type.Optional(Type.String({ description: "`text/plain` for the text of the lines." })),
    }),
  },
  canWait: true,
  answers: { 200: Type.Union([LogPage, Type.String({ description: "The text of the lines." })]) },
  errors: ["job_not_found", "step_not_found"],
  async handler({ params: { jobId, stepKey }, query, headers: { accept = "" }, wait }, { stores, waiting }) {
    const { after = 0, tail } = query;
    const isText = wantsText(accept);
    const limit = query.limit ?? (isText ? Number.POSITIVE_INFINITY : 1_000);
    const {
      headers,
      value: { job },
    } = await waiting.until(wait, {
      record: { kind: "log", jobId, stepKey },
      readName: "last",
      // with the job, which may be deleted meanwhile
      read: async () => {
        const job = await stores.logs.findStep(jobId, stepKey);
        return { job, last: await readLastSeq(stores.logs, job, stepKey) };
      },
      isOver: ({ last }) => last > after,
    });
    const page = await readLog(stores.logs, job, stepKey, { after, limit, tail });
    if (!isText) return { status: 200, headers, body: page };
    const body = page.lines.map(({ text }) => `${text}\n`).join("");
    return { status: 200, headers: { ...headers, "Content-Type": "text/plain; charset=utf-8" }, body };
  },
});

/** Returns whether a client asks for text, and not for JSON too. */
const wantsText = (accept: string): boolean => /\btext\/plain\b/i.test(accept) && !/\bjson\b/i.test(accept);

export const stepLogRoutes = [appendLog, getLog];
