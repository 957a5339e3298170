import type { Config } from "../../config/config.ts";
import { PAYLOAD_FIELDS } from "../../models/jobs/payloads/payloadFields.ts";
import { isStored } from "../../models/jobs/payloads/payloads.ts";
import { readJobWithSteps } from "../../models/jobs/read/readSteps.ts";
import { unpackPayload } from "../../models/jobs/read/viewJobs.ts";
import type { NotedRecord } from "../../models/notifications/outbox.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError } from "../../shared/errors.ts";
import type { NotificationData } from "./notification.ts";

export type Include = NonNullable<Config["notify"][number]["to"]["webhook"]>["include"];

/** Maximum characters of the included parts together: the body is stored with its delivery, in one document of 16 MiB. */
const MAX_INCLUDED_LENGTH = 4 * 1024 * 1024;

/**
 * Returns the data of a notification with the parts of its job or run that a webhook includes. Parts that are too large, or
 * that were deleted meanwhile, are named in `omitted`.
 * @throws AppError unavailable
 */
export async function withIncluded(
  stores: Stores,
  record: NotedRecord,
  data: NotificationData,
  include: Include,
): Promise<object> {
  if (include.length === 0 || (record.kind !== "job" && record.kind !== "run")) return data;
  const parts: Record<string, unknown> = {};
  const omitted: string[] = [];
  let length = 0;
  for (const name of include) {
    const part = await readPart(stores, record, name);
    if (part === "none") continue;
    const partLength = part === undefined ? Number.POSITIVE_INFINITY : JSON.stringify(part).length;
    if (length + partLength > MAX_INCLUDED_LENGTH) {
      omitted.push(name);
      continue;
    }
    length += partLength;
    parts[name] = part;
  }
  const left = omitted.length > 0 && { omitted };
  return record.kind === "job"
    ? { ...data, job: { ...data.job, ...parts, ...left } }
    : { ...data, run: { ...data.run, ...parts, ...left } };
}

/** Returns a part; undefined if it cannot be read, and "none" if records of this kind do not have it. */
async function readPart(stores: Stores, record: NotedRecord, name: Include[number]): Promise<unknown> {
  if (record.kind === "run") return name === "reply" ? record.run.reply : "none";
  if (record.kind !== "job") return "none";
  const { job } = record;
  const field = PAYLOAD_FIELDS.find((one) => one === name);
  if (field) {
    const payload = (await stores.outbox.readPayloads(record))?.[field];
    if (payload === undefined) return undefined;
    const texts = await stores.payloads.read(isStored(payload) ? [{ jobId: job.jobId, ref: payload }] : []);
    return unpackPayload(payload, texts);
  }
  if (name === "reply") return "none";
  if (record.isDeleted) return undefined;
  return (await readJobWithSteps(stores, job.jobId, { stepKey: undefined, withSteps: true }).catch(ifUnreadable))
    ?.steps;
}

/** The job was deleted meanwhile, or its steps are too large. */
function ifUnreadable(error: unknown): undefined {
  if (error instanceof AppError && ["job_not_found", "invalid_query"].includes(error.code)) return undefined;
  throw error;
}
