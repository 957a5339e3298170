import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { addressOf, type ClientKind, INFO, type McpClient, requestInit } from "../../support/mcpClients.ts";

/** The official client of SDK 1.x. */
export const FORMER_CLIENT: ClientKind = { title: "of the SDK 1.x", revision: "2025-11-25", connect };

async function connect(serviceUrl: string, token?: string): Promise<McpClient> {
  const client = new Client(INFO);
  const transport = new StreamableHTTPClientTransport(addressOf(serviceUrl), { requestInit: requestInit(token) });
  await client.connect(transport as never);
  const callTool = client.callTool.bind(client);
  return Object.assign(client, {
    revision: () => transport.protocolVersion,
    callTool: (tool: never, options: never) => callTool(tool, undefined, options),
  }) as unknown as McpClient;
}
