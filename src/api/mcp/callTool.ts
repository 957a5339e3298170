import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import type { Stores } from "../../models/stores.ts";
import { AppError, toAppError } from "../../shared/errors.ts";
import { authorize } from "../auth/authorize.ts";
import type { Caller } from "../auth/caller.ts";
import type { ApiDeps } from "../deps.ts";
import { type PreparedRoute, prepareRoute } from "../preparedRoute.ts";
import type { AnyRoute, Input, RouteSchemas } from "../route.ts";
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

/** Returns the job of a job token, which its tools use when a call names none. */
export const ownJob = ({ jobs }: Caller): string | undefined => (jobs && "jobId" in jobs ? jobs.jobId : undefined);

/**
 * Calls the route of a tool for a caller. Errors of the service are results, so that the model reads them and the connection
 * goes on.
 */
export async function callTool(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  caller: Caller,
  { mcpReq }: ServerContext,
  deps: ApiDeps,
): Promise<CallToolResult> {
  const { route, prepared, waitsFor } = tool;
  try {
    const jobId = ownJob(caller);
    const takesJob = route.path.includes(":jobId");
    const request = toRequest(route, takesJob && jobId !== undefined ? { jobId, ...args } : args);
    prepared.check(request);
    checkSize(request.body, route);
    authorize(caller, { method: route.method, scopes: scopesOf(tool) }, (request.params as { jobId?: string }).jobId);
    const input = { ...request, text: "", authContext: caller } as unknown as Input<RouteSchemas>;
    const progress = progressSender(mcpReq);
    if (waitsFor === "job" && progress)
      await followJob(request.params as { jobId: string }, progress, mcpReq.signal, deps);
    const wait = waitsFor && !(waitsFor === "job" && progress) ? { seconds: WAIT_SECONDS, gone: mcpReq.signal } : null;
    const { body } = await prepared.call({ ...input, wait });
    const structuredContent = JSON.parse(JSON.stringify(body)) as Record<string, unknown>;
    return { content: [{ type: "text", text: JSON.stringify(body) }], structuredContent };
  } catch (thrown) {
    return failure(toAppError(thrown), deps);
  }
}

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

/** Sends the progress of a job until it has ended, for at most `WAIT_SECONDS`. @throws AppError job_not_found, unavailable */
async function followJob(
  { jobId }: { jobId: string },
  send: SendProgress,
  gone: AbortSignal,
  { stores, waiting }: ApiDeps,
): Promise<void> {
  const until = performance.now() + WAIT_SECONDS * 1_000;
  let known: Pick<Head, "progress"> = { progress: -1 };
  for (;;) {
    const seconds = (until - performance.now()) / 1_000;
    const wait = seconds > 0 ? { seconds, gone } : null;
    const { value, headers } = await waiting.until(wait, {
      record: { kind: "job", jobId },
      readName: "head",
      read: () => stores.jobs.find(jobId),
      isOver: ({ status, progress }) => status !== "running" || progress !== known.progress,
      mayEnd: (change) => change.kind === "job",
    });
    if (gone.aborted) return;
    await send(value.progress, value.message);
    const couldWait = Object.keys(headers).length > 0;
    if (value.status !== "running" || !wait || !couldWait || value.progress === known.progress) return;
    known = value;
  }
}
