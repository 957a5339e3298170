import type { Gate } from "../../wire/gate.ts";
import { readNewest } from "../db/newestFirst.ts";
import type { JobScope } from "../jobs/jobScope.ts";
import { jobNotFound } from "../jobs/jobs.ts";
import { scopeQuery } from "../jobs/search/jobFilter.ts";
import { type GateDoc, viewGate } from "./gate.ts";
import { gateNotFound } from "./gateErrors.ts";
import type { GateStores } from "./gateStores.ts";
import { asReadersSee, type GateJob } from "./gates.ts";

/** Reads the part of a job that its gates need. @throws AppError job_not_found, unavailable */
export async function findGateJob({ jobs }: GateStores, jobId: string): Promise<GateJob> {
  const projection = { jobId: 1, openGates: 1, status: 1, cancel: 1 };
  const job = await jobs.collection.findOne<GateJob>({ jobId }, { projection });
  if (!job) throw jobNotFound(jobId);
  return job;
}

/** Reads a gate as readers see it, and its job. @throws AppError job_not_found, gate_not_found, unavailable */
export async function findGateWithJob(
  stores: GateStores,
  jobId: string,
  key: string,
): Promise<{ gate: GateDoc; job: GateJob }> {
  const job = await findGateJob(stores, jobId);
  const gate = await stores.gates.find(job, key);
  if (!gate) throw gateNotFound(jobId, key);
  return { gate: asReadersSee(job, gate), job };
}

/** Reads a gate as readers see it. @throws AppError job_not_found, gate_not_found, unavailable */
export const findGate = async (stores: GateStores, jobId: string, key: string): Promise<GateDoc> =>
  (await findGateWithJob(stores, jobId, key)).gate;

interface GateListQuery {
  readonly status?: readonly GateDoc["status"][] | undefined;
  readonly jobId?: string | undefined;
  /** The jobs to which the caller is confined. */
  readonly scope?: JobScope | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Returns a page of the gates of all jobs, the newest first. */
export async function listGates(
  { gates }: GateStores,
  { status, jobId, scope, limit, cursor }: GateListQuery,
): Promise<{ gates: Gate[]; nextCursor: string | null }> {
  const query = {
    ...(status && { status: { $in: [...status] } }),
    ...(jobId !== undefined && { jobId }),
    ...(scope && { $and: [scopeQuery(scope)] }),
  };
  const bytesOf = ({ title, message, requestedSchema, content }: GateDoc) =>
    [title, message, requestedSchema, content].reduce((sum, text) => sum + (text?.length ?? 0), 0);
  const { rows, nextCursor } = await readNewest(gates.collection, { query, limit, cursor, bytesOf });
  const shown = (await gates.withJobs(rows)).map(async ({ jobName, ...gate }) => ({
    ...viewGate(await gates.expireIfDue(gate)),
    jobName,
  }));
  const current = await Promise.all(shown);
  return { gates: current.filter((gate) => !status || status.includes(gate.status)), nextCursor };
}
