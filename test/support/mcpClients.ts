import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

interface Progress {
  readonly progress: number;
  readonly message?: string;
}

/** The part of an official client that the tests use. */
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

export interface ClientKind {
  readonly title: string;
  readonly revision: string;
  /** Connects to the endpoint of a service. Without a token no `Authorization` is sent. */
  connect(serviceUrl: string, token?: string): Promise<McpClient>;
}

export const INFO = { name: "test", version: "1" };
export const addressOf = (serviceUrl: string) => new URL(`${serviceUrl}/mcp`);
export const requestInit = (token: string | undefined) => ({
  headers: token ? { Authorization: `Bearer ${token}` } : {},
});

async function connectModern(serviceUrl: string, token: string | undefined, pin?: string): Promise<McpClient> {
  const client = new Client(INFO, pin === undefined ? {} : { versionNegotiation: { mode: { pin } } });
  await client.connect(new StreamableHTTPClientTransport(addressOf(serviceUrl), { requestInit: requestInit(token) }));
  return Object.assign(client, { revision: () => client.getNegotiatedProtocolVersion() }) as unknown as McpClient;
}

/** The official client of SDK 2.x. It uses the last revision with `initialize` unless a revision is pinned. */
export const MCP_CLIENTS: readonly [ClientKind, ClientKind] = [
  { title: "of the SDK 2.x", revision: "2025-11-25", connect: (url, token) => connectModern(url, token) },
  {
    title: "of the SDK 2.x, pinned to revision 2026-07-28",
    revision: "2026-07-28",
    connect: (url, token) => connectModern(url, token, "2026-07-28"),
  },
];
