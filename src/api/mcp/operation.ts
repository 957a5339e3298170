export const MCP_PATH = "/mcp";

const JSONRPC = { type: "string", const: "2.0", description: "The version of JSON-RPC." };

const JSON_OBJECT = { type: "object", additionalProperties: true, title: "JsonObject" };

const MESSAGE = {
  type: "object",
  title: "McpMessage",
  required: ["jsonrpc", "method"],
  properties: {
    jsonrpc: JSONRPC,
    id: { anyOf: [{ type: "string" }, { type: "integer" }], description: "Absent in a notification." },
    method: { type: "string", description: "Such as `tools/list` or `tools/call`." },
    params: { ...JSON_OBJECT, description: "The parameters of the method." },
  },
};

const RESULT = {
  type: "object",
  title: "McpResult",
  required: ["jsonrpc"],
  properties: {
    jsonrpc: JSONRPC,
    id: {
      anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }],
      description: "The id of the request.",
    },
    result: { ...JSON_OBJECT, description: "The result of the method." },
    error: { ...JSON_OBJECT, description: "An error of the protocol, in place of a result." },
  },
};

/** The description of the endpoint of MCP in openapi.json. Its messages are those of the protocol, which has no paths. */
export const MCP_OPERATION = {
  operationId: "mcp",
  tags: ["mcp"],
  summary: "Speak the Model Context Protocol",
  description:
    "Takes one message of the Model Context Protocol (streamable HTTP, revisions 2025-06-18, 2025-11-25 and 2026-07-28) in JSON-RPC 2.0. `tools/list` returns the tools that the scopes of the token allow. The endpoint has no sessions: `GET` and `DELETE` answer 405. Errors of the service are tool results with `isError`.",
  parameters: [],
  requestBody: {
    required: true,
    content: {
      "application/json": { schema: MESSAGE, example: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} } },
    },
  },
  responses: {
    200: {
      description: "The result: as JSON, or as the last of several server-sent events.",
      content: {
        "application/json": { schema: RESULT, example: { jsonrpc: "2.0", id: 1, result: { tools: [] } } },
        "text/event-stream": {
          schema: { type: "string" },
          example: 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\n\n',
        },
      },
    },
    202: { description: "The notification was accepted. The response has no body." },
  },
} as const;
