import type { mongo } from "mongoose";
import type { HookRequestRow, RequestOutcome } from "../../wire/hookRequest.ts";
import { createdWithin, type NewestQuery, readNewest } from "../db/newestFirst.ts";
import type { HookRequestDoc } from "./hookRequest.ts";
import { requestNotFound } from "./hookRequests.ts";
import type { IntakeStores } from "./intakeStores.ts";

export interface HookRequestQuery extends NewestQuery {
  readonly hook?: string | undefined;
  readonly mapping?: string | undefined;
  readonly outcome?: readonly RequestOutcome[] | undefined;
  readonly status?: number | undefined;
}

const ROW_FIELDS = { body: 0, head: 0, failedRuns: 0, droppedRuns: 0 } as const;

/** Reads requests by their ids, as far as they are visible, in any order. */
export async function readRows(
  stores: Pick<IntakeStores, "hookRequests" | "runs">,
  ids: readonly string[],
): Promise<HookRequestRow[]> {
  const rows = await stores.hookRequests.collection.find({ _id: { $in: [...ids] } }, { projection: ROW_FIELDS });
  const existing = await existingRuns(stores, rows);
  return rows.filter((request) => isVisible(request, existing)).map(viewRow);
}

/** Returns a page of kept requests, the newest first. */
export async function listHookRequests(
  stores: Pick<IntakeStores, "hookRequests" | "runs">,
  { hook, mapping, outcome, status, from, before, limit, cursor }: HookRequestQuery,
): Promise<{ requests: HookRequestRow[]; nextCursor: string | null }> {
  const { collection } = stores.hookRequests;
  const query: mongo.Filter<HookRequestDoc> = {
    ...(hook !== undefined && { hook }),
    ...(mapping !== undefined && { mapping }),
    ...(outcome && { outcome: { $in: [...outcome] } }),
    ...(status !== undefined && { status }),
    ...createdWithin(from, before),
  };
  const projection = ROW_FIELDS;
  const bytesOf = ({ runIds, jobIds = [] }: HookRequestDoc) => 500 + runIds.length * 40 + jobIds.length * 260;
  const { rows, nextCursor } = await readNewest(collection, { query, projection, limit, cursor, bytesOf });
  const existing = await existingRuns(stores, rows);
  return { requests: rows.filter((request) => isVisible(request, existing)).map(viewRow), nextCursor };
}

/** Reads a kept request with its head and body. @throws AppError request_not_found, unavailable */
export async function findHookRequest(
  stores: Pick<IntakeStores, "hookRequests" | "runs">,
  requestId: string,
): Promise<HookRequestDoc> {
  const found = await stores.hookRequests.find(requestId);
  if (!found || !isVisible(found, await existingRuns(stores, [found]))) throw requestNotFound(requestId);
  return found;
}

/** Returns which of the first runs of unconfirmed requests exist. */
async function existingRuns(
  { runs }: Pick<IntakeStores, "runs">,
  requests: readonly HookRequestDoc[],
): Promise<Set<string>> {
  const firsts = requests.flatMap(({ unconfirmed, runIds }) => (unconfirmed ? runIds.slice(0, 1) : []));
  return firsts.length > 0 ? runs.findExisting(firsts) : new Set();
}

const isVisible = ({ unconfirmed, runIds: [first = ""] }: HookRequestDoc, existing: ReadonlySet<string>): boolean =>
  !unconfirmed || existing.has(first);

export function viewRow(request: HookRequestDoc): HookRequestRow {
  const { _id: requestId, hook, mapping, outcome, status, code, reason, signature, repeated } = request;
  const { event = null, object = null, address, contentType, bodyBytes, runIds, jobIds = [] } = request;
  return {
    requestId,
    createdAt: request.createdAt.toISOString(),
    hook,
    mapping,
    event,
    object,
    outcome,
    status,
    code,
    reason,
    signature,
    repeated,
    address,
    contentType,
    bodyBytes,
    runIds,
    jobIds,
  };
}
