import Type from "typebox";
import { nextStaleAt, readJob } from "../../../models/jobs/read/readJobs.ts";
import type { Stores } from "../../../models/stores.ts";
import * as s from "../../../wire/blocks.ts";
import { JobRead } from "../../../wire/job.ts";
import { etagOf, matchesETag } from "../../etag.ts";
import * as examples from "../../examples/jobs.ts";
import { route } from "../../routing/route.ts";
import * as q from "../../schemas/requests.ts";

export const getJob = route({
  method: "get",
  path: "/api/jobs/:jobId",
  operationId: "getJob",
  scopes: ["jobs:read"],
  tag: "jobs",
  summary: "Get a job, or wait for its end",
  description:
    "Returns the job with its input, metadata, output and the step that runs. Use `stepKey` or `include=steps` to read steps in the same request.\n\nWith `Prefer: wait=30` the response is sent once the job has ended, and after 30 seconds at the latest. Repeat the request while `status` is `running`. With `If-None-Match` as well, the response is sent once anything in it has changed, and is 304 if nothing has. To receive every change, use `GET /api/jobs/{jobId}/events`.",
  example: examples.getJob,
  schemas: {
    params: Type.Object({ jobId: s.JobId }),
    query: Type.Object(
      {
        stepKey: Type.Optional(s.Identifier("Adds the field `step` with the step of this key.")),
        include: Type.Optional(
          Type.Enum(["steps"], {
            description: "`steps` adds the field `steps` with all steps of the job, oldest first.",
          }),
        ),
      },
      q.closed,
    ),
    headers: Type.Object({
      "if-none-match": Type.Optional(
        Type.String({ description: "The `ETag` of a former response. The response is 304 while nothing has changed." }),
      ),
    }),
  },
  canWait: true,
  isLarge: ({ include }) => include === "steps",
  answerHeaders: { ETag: "Changes with everything that the response shows." },
  answers: { 200: JobRead, 304: q.NoContent },
  errors: ["job_not_found"],
  async handler(
    { params: { jobId }, query, headers: { "if-none-match": known }, wait },
    { stores, waiting, clock, answers },
  ) {
    const record = { kind: "job", jobId } as const;
    const include = {
      stepKey: query.stepKey,
      withSteps: query.include === "steps",
      // All processes must return the same ETag, or a client that waits for a change goes from one to the other without a pause.
      freshUsual: known !== undefined,
    };
    const readName = JSON.stringify(include);
    const read = async () => {
      const held = wait && include.withSteps ? await answers.reserveRead() : null;
      return readWithETag(stores, jobId, include).finally(() => held?.release());
    };
    if (!wait) return answer(await read(), known, {});
    if (known !== undefined) {
      const { value, headers } = await waiting.until(wait, {
        record,
        readName,
        read,
        isOver: ({ etag }) => !matchesETag(known, etag),
        nextChangeAt: ({ body }) => nextStaleAt(stores, body, clock.now()),
      });
      return answer(value, known, headers);
    }
    const { headers } = await waiting.until(wait, {
      // without steps and payloads: while Redis is unavailable the job is read each second
      record,
      readName: "head",
      read: () => stores.jobs.find(jobId),
      isOver: ({ status }) => status !== "running",
      mayEnd: (change) => change.kind === "job" && change.moved,
    });
    return answer(await waiting.share(record, readName, read), known, headers);
  },
});

interface TaggedJob {
  readonly body: JobRead;
  readonly json: string;
  readonly etag: string;
}

async function readWithETag(stores: Stores, jobId: string, include: Parameters<typeof readJob>[2]): Promise<TaggedJob> {
  const body = await readJob(stores, jobId, include);
  const json = JSON.stringify(body);
  return { body, json, etag: etagOf(json) };
}

/** Returns the response with a job, or 304 if the client knows this state. */
function answer({ body, json, etag }: TaggedJob, known: string | undefined, applied: Readonly<Record<string, string>>) {
  const headers = { ETag: etag, ...applied };
  return matchesETag(known, etag)
    ? { status: 304 as const, headers, body: undefined }
    : { status: 200 as const, headers, body, json };
}
