import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/**
 * An agent of the command runner that reports on its own job over MCP, with nothing but the environment that the runner gives. It
 * takes the job through three steps, asks a person before the third, and works on that one until it is asked to stop.
 */
const { SIGNALBOX_MCP_URL = "", SIGNALBOX_TOKEN = "" } = process.env;
const client = new Client({ name: "scripted-agent", version: "1" });
const headers = { Authorization: `Bearer ${SIGNALBOX_TOKEN}` };
await client.connect(new StreamableHTTPClientTransport(new URL(SIGNALBOX_MCP_URL), { requestInit: { headers } }));

async function use(name: string, args: object = {}): Promise<Record<string, unknown>> {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: { ...args } });
  if (isError) throw new Error(`${name}: ${JSON.stringify(content)}`);
  return structuredContent as Record<string, unknown>;
}

const complete = { status: "completed", progress: 100 };
await use("step_report", { stepKey: "read", stepName: "Read the sources", message: "2 of 4" });
await use("step_report", { stepKey: "read", ...complete, jobProgressStart: 0, jobProgressEnd: 30 });
await use("step_report", { stepKey: "write", stepName: "Write the draft" });
await use("step_report", { stepKey: "write", ...complete, jobProgressStart: 30, jobProgressEnd: 60 });
const requestedSchema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
await use("gate_open", { key: "publish", title: "Publish the draft?", requestedSchema });
let gate = await use("gate_wait", { key: "publish" });
while (gate.status === "open") gate = await use("gate_wait", { key: "publish" });
const { title } = gate.content as { title: string };
await use("step_report", { stepKey: "publish", stepName: "Publish", message: `${gate.action}: ${title}` });
for (;;) if ((await use("job_wait")).status !== "running") break;
