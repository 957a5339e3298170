import { expect } from "chai";
import { SCOPES } from "../../../src/shared/access/scopes.ts";
import { MCP_CLIENTS } from "../../support/mcpClients.ts";
import { useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";
const READS = { readOnlyHint: true, openWorldHint: false };
const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const STARTS = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };
/** The scope and the hints of each tool, and the operation whose schemas it has. */
const CONTRACT: Readonly<Record<string, readonly [scope: string, hints: object, operationId: string]>> = {
  job_create: ["jobs:create", WRITES, "putJob"],
  step_report: ["jobs:report", WRITES, "reportStep"],
  job_get: ["jobs:read", READS, "getJob"],
  job_list: ["jobs:read", READS, "listJobs"],
  job_wait: ["jobs:read", READS, "getJob"],
  job_cancel: ["jobs:write", { ...WRITES, destructiveHint: true }, "cancelJob"],
  gate_open: ["jobs:report", WRITES, "putGate"],
  gate_wait: ["jobs:report", READS, "getGate"],
  agent_run: ["hooks:agent", STARTS, "runAgent"],
  wake: ["hooks:wake", STARTS, "wake"],
  run_get: ["runs:read", READS, "getRun"],
};

const INCLUDED: Readonly<Record<string, readonly string[]>> = {
  "jobs:create": ["jobs:report"],
  "jobs:write": ["jobs:create", "jobs:report"],
};

/** Returns the token that has a scope alone. */
const onlyWith = (scope: string) => `the-token-with-the-scope-${scope}`;
const CONFIG = JSON.stringify({
  server: {
    apiToken: API,
    tokens: SCOPES.map((scope, i) => ({ name: `only-${i}`, token: onlyWith(scope), scopes: [scope] })),
  },
  hooks: { enabled: true, token: "a-hook-token-of-length" },
});

interface Schema {
  readonly $ref?: string;
  readonly readOnly?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
}

type Content = Readonly<{ content: Readonly<Record<"application/json", { readonly schema: Schema }>> }>;

/** The part of an operation of openapi.json that the tests read. */
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

describe("each tool of POST /mcp", () => {
  const app = useSharedApp({ config: CONFIG });

  const [{ connect }] = MCP_CLIENTS;
  /** Returns the tools that a token can see. */
  const listFor = async (token: string) => {
    const client = await connect(app.url, token);
    const { tools } = await client.listTools();
    await client.close();
    return tools;
  };

  it("has the scope of the contract for each tool", async () => {
    const admin = (await listFor(API)).map(({ name }) => name);

    expect(admin).to.deep.equal(Object.keys(CONTRACT));
    expect(await listFor(onlyWith("admin"))).to.have.length(admin.length);
    for (const scope of SCOPES.filter((one) => one !== "admin")) {
      const needed = [scope, ...(INCLUDED[scope] ?? [])];
      const expected = admin.filter((name) => needed.includes(CONTRACT[name]?.[0] ?? ""));
      const listed = (await listFor(onlyWith(scope))).map(({ name }) => name);
      expect(listed, scope).to.deep.equal(expected);
    }
  });

  it("has the hints of the contract, and the arguments and results of its route, for each tool", async () => {
    const { body: document } = await app.call("GET", "/openapi.json");
    const operations = Object.values<Record<string, Operation>>(document.paths).flatMap((path) => Object.values(path));
    const resolved = ({ $ref, ...schema }: Schema): Schema =>
      $ref ? document.components.schemas[$ref.split("/").at(-1) as string] : schema;

    for (const { name, annotations, inputSchema, outputSchema } of await listFor(API)) {
      const [, hints, operationId] = CONTRACT[name] as readonly [string, object, string];
      const { parameters, requestBody, responses } = operations.find(
        (one) => one.operationId === operationId,
      ) as Operation;
      const { title, ...given } = annotations;
      expect(given, name).to.deep.equal(hints);
      const body = requestBody && resolved(requestBody.content["application/json"].schema).properties;
      const fields = Object.entries(body ?? {}).filter(([, { readOnly }]) => !readOnly);
      const inUrl = parameters.filter((one) => one.in === "path" || (one.in === "query" && !requestBody));
      const named = [
        ...inUrl.map((one) => one.name.replace(/^metadata\..*/, "metadata")),
        ...fields.map(([key]) => key),
      ];
      expect(Object.keys(inputSchema.properties).sort(), name).to.deep.equal([...new Set(named)].sort());
      const [success] = Object.entries(responses).filter(([status]) => /^2/.test(status));
      const { properties } = resolved(success?.[1].content["application/json"].schema as Schema);
      expect(Object.keys(outputSchema.properties).sort(), name).to.deep.equal(Object.keys(properties ?? {}).sort());
    }
  });
});
