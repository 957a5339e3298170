import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import pLimit from "p-limit";
import type { Stores } from "../../models/stores.ts";
import { AppError, toAppError } from "../../shared/errors.ts";
import { OWN_SESSION } from "../../wire/runs/return.ts";
import { authorize } from "../auth/authorize.ts";
import { type Caller, jobOf } from "../auth/caller.ts";
import type { ApiDeps } from "../deps.ts";
import { type PreparedRoute, prepareRoute } from "../routing/preparedRoute.ts";
import type { AnyRoute, Input, RouteSchemas } from "../routing/route.ts";
import type { RequestedWait } from "../wait.ts";
import { brief, MAX_RESULT_BYTES, OMITTED } from "./brief.ts";
import { BriefPayloads } from "./briefPayloads.ts";
import { toRequest } from "./toolSchemas.ts";
import { scopesOf, type ToolDefinition, WAIT_SECONDS } from "./tools.ts";

/** A tool that is ready to be called. */
export interface Tool extends ToolDefinition {
  readonly route: AnyRoute;
  readonly prepared: PreparedRoute;
}

export const prepareTool = (
  tool: ToolDefinition & { readonly route: AnyRoute },
  deps: ApiDeps,
  strict: boolean,
): Tool => ({ ...tool, prepared: prepareRoute(tool.route, deps, strict) });

/** Returns the dependencies of the routes that tools call: their reads leave out what no result has room for. */
export const toolDeps = (deps: ApiDeps): ApiDeps => ({
  ...deps,
  stores: { ...deps.stores, payloads: new BriefPayloads(deps.stores.payloads.collection) },
});

/** Maximum concurrent reads by tools in a process: a job has up to 12 MB of steps, and a result 40 kB. */
const MAX_CONCURRENT_READS = 4;
const limitReads = pLimit(MAX_CONCURRENT_READS);

/** Maximum rows of a list: more never fit into a result. */
const MAX_ROWS = 100;

/**
 * Calls the route of a tool for a caller. Errors of the service are results, so that the model reads them and the connection
 * goes on.
 */
export async function callTool(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  caller: Caller,
  { mcpReq }: ServerContext,
  deps: ApiDeps,
): Promise<CallToolResult> {
  const { route, prepared, waitsFor, defaults } = tool;
  try {
    const { run } = caller;
    const args = { ...defaults, ...(tool.returns === "sets" && run && { returnTo: OWN_SESSION }), ...given };
    const jobId = jobOf(caller)?.jobId; // of a job token, for calls that name none
    const takesJob = route.path.includes(":jobId");
    const request = toRequest(route, takesJob && jobId !== undefined ? { jobId, ...args } : args);
    prepared.check(request);
    checkSize(request.body, route);
    const called = { method: route.method, scopes: scopesOf(tool) };
    const confined = authorize(caller, called, (request.params as { jobId?: string }).jobId);
    const input = {
      ...request,
      text: "",
      textType: "",
      authContext: confined,
      wait: null,
    } as unknown as Input<RouteSchemas>;
    const couldWait = !waitsFor || (await waitFor(tool, input, caller, mcpReq, deps));
    const body = await read(tool, input);
    const note = couldWait || isOver(body) ? "" : NO_ROOM;
    return resultOf(body, tool.rest, run && tool.returns && (await wakesCaller(body, deps)) ? WOKEN : note);
  } catch (thrown) {
    return failure(toAppError(thrown), deps);
  }
}

const NO_ROOM =
  "The service has no room for another wait now. Pause for half a minute before you call this tool again, and do something else meanwhile.";

/** In the result, because a model that reads it only in the description of the tool polls all the same. */
const WOKEN = "This session is woken when the job ends. Do not poll, and do not wait.";

/** Returns whether the end of the job of a response wakes the session of the run that sent the request. */
async function wakesCaller(body: unknown, { stores }: ApiDeps): Promise<boolean> {
  const { returnTo } = await stores.jobs.find((body as { jobId: string }).jobId);
  return returnTo?.on.some((event) => event === "completed" || event === "failed") ?? false;
}

const isOver = (body: unknown): boolean => !["running", "open"].includes((body as { status: string }).status);

/**
 * Waits until what a tool waits for is over, or its time is up.
 * @returns false if it could not wait, because `server.maxWaiting` requests do; it has paused then
 */
async function waitFor(
  { waitsFor, prepared }: Tool,
  input: Input<RouteSchemas>,
  caller: Caller,
  mcpReq: ServerContext["mcpReq"],
  deps: ApiDeps,
): Promise<boolean> {
  const gone = mcpReq.signal;
  const wait = { seconds: WAIT_SECONDS, gone, caller };
  const couldWait =
    waitsFor === "job"
      ? await followJob(input.params as unknown as { jobId: string }, progressSender(mcpReq), wait, deps)
      : (await prepared.call({ ...input, wait })).headers?.["Preference-Applied"] !== undefined;
  if (!couldWait) await deps.waiting.pause(gone);
  return couldWait;
}

/** Calls the route of a tool. Reads a list again, with fewer rows, until it fits into a result. */
async function read({ prepared, annotations }: Tool, input: Input<RouteSchemas>): Promise<unknown> {
  const call = async (query: object) => (await prepared.call({ ...input, query } as never)).body as unknown;
  if (!annotations.readOnlyHint) return call(input.query ?? {});
  return limitReads(async () => {
    const { limit: wanted, ...rest } = (input.query ?? {}) as { limit?: number };
    if (wanted === undefined) return call(rest);
    for (let limit = Math.min(wanted, MAX_ROWS); ; ) {
      const body = await call({ ...rest, limit });
      const size = Buffer.byteLength(JSON.stringify(body));
      if (size <= MAX_RESULT_BYTES || limit === 1) return body;
      limit = Math.max(1, Math.min(limit - 1, Math.floor((0.9 * MAX_RESULT_BYTES * limit) / size)));
    }
  });
}

/**
 * Returns the response of a route as a result, which fits a model. The content is in `structuredContent` alone: the official
 * clients require it of a tool with an `outputSchema`, and as text it would be there twice. The text has the few fields that
 * decide what comes next, for clients that show nothing else.
 * @param rest a sentence for the model, which it reads if the response was shortened
 * @param note a sentence that it reads in any case
 */
function resultOf(body: unknown, rest = "", note = ""): CallToolResult {
  const shortened = brief(body, MAX_RESULT_BYTES - MAX_TEXT_BYTES);
  const json = JSON.stringify(shortened);
  const structuredContent = JSON.parse(json) as Record<string, unknown>;
  const decisive = DECISIVE.flatMap((field) =>
    structuredContent[field] == null ? [] : `${field}: ${structuredContent[field]}`,
  );
  const isWhole = shortened === body && !json.includes(OMITTED);
  const cut = isWhole ? "" : `The result was too large and has been shortened. ${rest}`;
  const text = [decisive.join(", "), cut, note].filter((part) => part !== "").join("\n");
  return { content: text ? [{ type: "text", text }] : [], structuredContent };
}

/** Short fields of a result that decide what a model does next. */
const DECISIVE: readonly string[] = ["runId", "status", "progress", "action", "cancelRequested", "nextCursor"];

/** Room for the text beside the response. */
const MAX_TEXT_BYTES = 1_500;

/** Checks the limit of a route that is below `server.bodyLimit`. @throws AppError body_too_large */
function checkSize(body: unknown, { bodyLimit }: AnyRoute): void {
  if (bodyLimit === undefined || body === undefined || Buffer.byteLength(JSON.stringify(body)) <= bodyLimit) return;
  throw new AppError("body_too_large", {
    detail: `The arguments are larger than ${bodyLimit} bytes, the limit of this tool.`,
  });
}

/** Returns an error of the service as a result. It names each faulty argument. */
function failure(error: AppError, { log }: ApiDeps): CallToolResult {
  if (error.code === "internal") log.error({ err: error.cause ?? error }, "a tool of MCP failed");
  const faults = (error.errors ?? []).map(
    ({ pointer, parameter, detail }) => `${parameter ?? pointer?.slice(1)} ${detail}`,
  );
  const text = [`${error.message} (${error.code})`, ...(faults.length > 1 ? faults : [])].join("\n");
  return { isError: true, content: [{ type: "text", text }] };
}

type SendProgress = (progress: number, message: string | null) => Promise<void>;

/** Returns a sender of progress, if the client asked for it. */
function progressSender({ _meta, notify }: ServerContext["mcpReq"]): SendProgress | null {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return null;
  let last = -1;
  return async (progress, message) => {
    if (progress <= last) return; // the specification requires it to grow
    last = progress;
    const params = { progressToken, progress, total: 100, ...(message !== null && { message }) };
    await notify({ method: "notifications/progress", params });
  };
}

type Head = Awaited<ReturnType<Stores["jobs"]["find"]>>;

/**
 * Waits until a job has ended or the time is up, and sends its progress.
 * @param send null if the client did not ask for progress
 * @returns false if there was no room for the wait
 * @throws AppError job_not_found, unavailable
 */
async function followJob(
  { jobId }: { jobId: string },
  send: SendProgress | null,
  wait: RequestedWait,
  { stores, waiting }: ApiDeps,
): Promise<boolean> {
  const until = performance.now() + wait.seconds * 1_000;
  let known: Pick<Head, "progress"> = { progress: -1 };
  for (;;) {
    const seconds = (until - performance.now()) / 1_000;
    if (seconds <= 0) return true;
    const { value, headers } = await waiting.until(
      { ...wait, seconds },
      {
        record: { kind: "job", jobId },
        readName: "head",
        read: () => stores.jobs.find(jobId),
        isOver: ({ status, progress }) => status !== "running" || (send !== null && progress !== known.progress),
        mayEnd: (change) => change.kind === "job" && (send !== null || change.moved),
      },
    );
    if (wait.gone.aborted) return true;
    await send?.(value.progress, value.message);
    const couldWait = Object.keys(headers).length > 0;
    if (!send || value.status !== "running" || !couldWait || value.progress === known.progress) return couldWait;
    known = value;
  }
}
