import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

interface Progress {
  readonly progress: number;
  readonly message?: string;
}

/** The part of an official client of either generation that the tests use. */
export interface McpClient {
  /** The revision of the protocol that client and service agreed on. */
  revision(): string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  listTools(): Promise<{ tools: any[] }>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  callTool(tool: { name: string; arguments: object }, options?: { onprogress(progress: Progress): void }): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  listResourceTemplates(): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  readResource(params: { uri: string }): Promise<any>;
  close(): Promise<void>;
}

interface ClientKind {
  readonly title: string;
  readonly revision: string;
  /** Connects to the endpoint of a service. Without a token no `Authorization` is sent. */
  connect(serviceUrl: string, token?: string): Promise<McpClient>;
}

const INFO = { name: "test", version: "1" };
const addressOf = (serviceUrl: string) => new URL(`${serviceUrl}/mcp`);
const requestInit = (token: string | undefined) => ({ headers: token ? { Authorization: `Bearer ${token}` } : {} });

async function connectModern(serviceUrl: string, token: string | undefined, pin?: string): Promise<McpClient> {
  const client = new Client(INFO, pin === undefined ? {} : { versionNegotiation: { mode: { pin } } });
  await client.connect(new StreamableHTTPClientTransport(addressOf(serviceUrl), { requestInit: requestInit(token) }));
  return Object.assign(client, { revision: () => client.getNegotiatedProtocolVersion() }) as unknown as McpClient;
}

async function connectFormer(serviceUrl: string, token: string | undefined): Promise<McpClient> {
  const client = new FormerClient(INFO);
  const transport = new FormerTransport(addressOf(serviceUrl), { requestInit: requestInit(token) });
  await client.connect(transport as never);
  const callTool = client.callTool.bind(client);
  return Object.assign(client, {
    revision: () => transport.protocolVersion,
    callTool: (tool: never, options: never) => callTool(tool, undefined, options),
  }) as unknown as McpClient;
}

/**
 * The official clients of both generations. That of SDK 2.x uses the last revision with `initialize` unless a revision
 * is pinned.
 */
export const MCP_CLIENTS: readonly [ClientKind, ClientKind, ClientKind] = [
  { title: "of the SDK 1.x", revision: "2025-11-25", connect: (url, token) => connectFormer(url, token) },
  { title: "of the SDK 2.x", revision: "2025-11-25", connect: (url, token) => connectModern(url, token) },
  {
    title: "of the SDK 2.x, pinned to revision 2026-07-28",
    revision: "2026-07-28",
    connect: (url, token) => connectModern(url, token, "2026-07-28"),
  },
];
