import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import {
  type AuthInfo,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from "@modelcontextprotocol/server";
import type { Context, Middleware } from "koa";
import { version } from "../../shared/process/version.ts";
import { type Caller, jobOf, mayDo, scopesOf as scopesOfCaller } from "../auth/caller.ts";
import type { ApiDeps } from "../deps.ts";
import type { MemoryBudget } from "../middleware/memoryBudget.ts";
import { getsReceipt } from "../receipt.ts";
import type { AnyRoute } from "../routing/route.ts";
import { MAX_RESULT_BYTES } from "./brief.ts";
import { callTool, prepareTool, type Tool, toolDeps } from "./callTool.ts";
import { findFault, type MessageFault, prepareMessage } from "./message.ts";
import { MCP_PATH } from "./operation.ts";
import { inputSchema, outputSchema } from "./toolSchemas.ts";
import { scopesOf, toolsOf } from "./tools.ts";

const JOB_URI = "signalbox://jobs/";
const JOB_TEMPLATE = {
  uriTemplate: `${JOB_URI}{jobId}`,
  name: "job",
  title: "Job",
  description: "A job with its progress, message, input, metadata and output.",
  mimeType: "application/json",
};

const INSTRUCTIONS =
  "Signalbox shows people how far long work is. Report each step of your work with step_report, ask people with gate_open, and stop when a result has cancelRequested.";

/**
 * Returns the endpoint of the Model Context Protocol (streamable HTTP) for requests with a parsed body and a `Caller` in
 * `ctx.state.authContext`. It has no sessions: each request gets a server of its own, so that any process serves it.
 * Source: https://modelcontextprotocol.io/specification/2026-07-28
 */
export function mcpEndpoint(routes: readonly AnyRoute[], given: ApiDeps, { strict, bodies }: McpOptions): Middleware {
  const deps = toolDeps(given);
  const tools = toolsOf(routes).map((tool) => prepareTool(tool, deps, strict));
  const listed = new Map(tools.map((tool) => [tool.name, listVariants(tool)]));
  const handler = createMcpHandler(
    ({ authInfo }) => createServer(tools, listed, authInfo?.extra?.caller as Caller, deps),
    {
      onerror: (error) => deps.log.debug({ err: { message: error.message } }, "a request to MCP failed"),
    },
  );
  return async (ctx) => {
    const { authContext: caller } = ctx.state as { authContext: Caller };
    const authInfo: AuthInfo = { token: "", clientId: caller.actor, scopes: scopesOfCaller(caller), extra: { caller } };
    ctx.state.operation = MCP_PATH;
    ctx.state.mayWait = true;
    const { body: message, rawBody: raw } = ctx.request as { body?: unknown; rawBody?: unknown };
    const fault = findFault(message);
    if (fault) return refuse(ctx, message, fault);
    // the message and its result stay in memory until the response is sent
    const release = bodies.reserve(ctx.req, (ctx.request.length ?? 0) + MAX_RESULT_BYTES);
    ctx.res.once("close", release);
    const restore = prepareMessage(message as Record<string, unknown>, raw as Uint8Array | undefined);
    await send(ctx, await handler.fetch(requestOf(ctx), { authInfo, parsedBody: message }), restore);
  };
}

interface McpOptions {
  /** See `RouterOptions`. */
  readonly strict: boolean;
  /** Limits the memory of requests that are being answered. */
  readonly bodies: MemoryBudget;
}

/** Answers a message that is not given to the SDK. */
function refuse(ctx: Context, body: unknown, error: MessageFault): void {
  const { id } = body as { id?: unknown };
  ctx.status = 400;
  ctx.body = { jsonrpc: "2.0", id: typeof id === "string" || typeof id === "number" ? id : null, error };
}

/** Returns a request without its body, which has been read. It is aborted when the client leaves. */
function requestOf(ctx: Context): Request {
  const gone = new AbortController();
  ctx.res.once("close", () => gone.abort());
  const headers = Object.entries(ctx.headers).flatMap(([name, value]) =>
    typeof value === "string" && name !== "authorization" ? [[name, value] as [string, string]] : [],
  );
  return new Request(`http://localhost${MCP_PATH}`, { method: "POST", headers, body: "{}", signal: gone.signal });
}

/** Sends the response of the SDK. @param restore changes its text */
async function send(ctx: Context, response: Response, restore: (text: string) => string): Promise<void> {
  ctx.status = response.status;
  // the SDK allows caching after revalidation, and these responses must not be stored
  for (const [name, value] of response.headers) if (name !== "cache-control") ctx.set(name, value);
  const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream") ?? false;
  ctx.state.isStream = isStream;
  if (!response.body) ctx.body = null;
  else if (isStream) ctx.body = Readable.from(restored(response.body as ReadableStream<Uint8Array>, restore));
  else ctx.body = Buffer.from(restore(await response.text()));
  if (!response.body) ctx.status = response.status; // Koa answers 204 for an empty body
}

/** Yields the events of a stream, each of which arrives as a whole. */
async function* restored(body: ReadableStream<Uint8Array>, restore: (text: string) => string): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield Buffer.from(restore(Buffer.from(chunk).toString()));
}

type ListedTool = ReturnType<typeof listVariants>;

/** Returns a tool as it is listed for a caller in general, for a job token, and for a caller who receives receipts. */
function listVariants({ name, title, description, annotations, defaults, route }: Tool) {
  const about = { name, title, description, annotations: { title, ...annotations } };
  const list = ({ omit = [] as readonly string[], asReceipt = false }) => ({
    ...about,
    inputSchema: inputSchema(route, { omit, defaults }),
    outputSchema: outputSchema(route, asReceipt),
  });
  return { general: list({}), ownJob: list({ omit: ["jobId"] }), receipt: route.receipt && list({ asReceipt: true }) };
}

/** Returns a tool as it is listed for a caller. A job token can read its job, so that it receives no receipts. */
function listFor(caller: Caller, { route }: Tool, { general, ownJob: own, receipt }: ListedTool) {
  if (receipt && getsReceipt(caller, route)) return receipt;
  return jobOf(caller) === undefined ? general : own;
}

function createServer(
  tools: readonly Tool[],
  listed: ReadonlyMap<string, ListedTool>,
  caller: Caller,
  deps: ApiDeps,
): Server {
  const server = new Server(
    { name: "signalbox", title: "Signalbox", version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  const allowed = tools.filter((tool) => mayDo(caller, ...scopesOf(tool)));
  server.setRequestHandler("tools/list", async () => ({
    tools: allowed.map((tool) => listFor(caller, tool, listed.get(tool.name) as ListedTool)),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    return callTool(tool, params.arguments ?? {}, caller, context, deps);
  });
  server.setRequestHandler("resources/list", async () => ({ resources: [] }));
  server.setRequestHandler("resources/templates/list", async () => ({
    resourceTemplates: mayDo(caller, "jobs:read") ? [JOB_TEMPLATE] : [],
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    const tool = tools.find(({ name }) => name === "job_get");
    const result = await callTool(tool as Tool, { jobId: jobIdOf(uri) }, caller, context, deps);
    const [content] = result.content;
    if (result.isError)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, content?.type === "text" ? content.text : "");
    return { contents: [{ uri, mimeType: JOB_TEMPLATE.mimeType, text: JSON.stringify(result.structuredContent) }] };
  });
  return server;
}

function jobIdOf(uri: string): string {
  try {
    if (uri.startsWith(JOB_URI)) return decodeURIComponent(uri.slice(JOB_URI.length));
  } catch {
    // an invalid percent-encoding names no job
  }
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no resource ${uri}: use ${JOB_TEMPLATE.uriTemplate}.`,
  );
}
