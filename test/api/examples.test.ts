import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "chai";
import { faultsOf } from "../../script/prose/faults.ts";
import { useSharedApp } from "../support/useApp.ts";

const HOOK_TOKEN = "a-hook-token-of-length";
const CONFIG = `{
  hooks: { enabled: true, token: "${HOOK_TOKEN}", mappings: [{ match: { path: "ci" } }] },
  channels: { telegram: { botToken: "t" } },
  notify: [{ id: "sales", on: ["job.failed"], to: { wake: "next-heartbeat" } }],
}`;

/** The parts of an operation in openapi.json that these tests read. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly example?: string | number }[];
  readonly requestBody?: { readonly content: Record<string, { readonly example?: object }> };
  readonly responses: Record<string, { readonly content?: Record<string, { readonly example?: unknown }> }>;
}

const JSON_TYPE = "application/json";
const PROBLEM_TYPE = "application/problem+json";
const escapeKey = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

describe("the examples of openapi.json", () => {
  const app = useSharedApp({ config: CONFIG, timings: { channelCheckMs: 100 } });
  let operations: readonly Operation[];
  let check: (pointer: string, value: unknown) => string | null;
  before(async () => {
    const { body } = await app.call("GET", "/openapi.json");
    operations = Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
    );
    const ajv = (addFormats as unknown as typeof addFormats.default)(new Ajv2020({ strict: false }));
    ajv.addSchema(body, "api");
    check = (pointer, value) => {
      const validate = ajv.compile({ $ref: `api#${encodeURI(pointer)}` });
      return validate(value) ? null : ajv.errorsText(validate.errors);
    };
  });

  it("match the schemas of their requests and responses, and are there for each operation", () => {
    for (const { method, path, operationId, requestBody, responses } of operations) {
      const pointer = `/paths/${escapeKey(path)}/${method}`;
      for (const [type, { example }] of Object.entries(requestBody?.content ?? {})) {
        const at = `${pointer}/requestBody/content/${escapeKey(type)}/schema`;
        expect(check(at, example), operationId).to.equal(null);
      }
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const [type, { example }] of Object.entries(content)) {
          if (type === PROBLEM_TYPE) continue;
          const at = `${pointer}/responses/${status}/content/${escapeKey(type)}/schema`;
          expect(check(at, example), `${operationId} ${status}`).to.equal(null);
        }
      }
    }
  });

  it("have a value for each identifier in a path", () => {
    for (const { operationId, parameters } of operations) {
      for (const { in: place, name, example } of parameters) {
        if (place === "path") expect(String(example), `${operationId} ${name}`).to.match(/^[^{}]+$/);
        // An empty example keeps "Try it out" from sending a made-up filter.
        else expect(example, `${operationId} ${name}`).to.deep.equal(name === "metadata" ? {} : undefined);
      }
    }
  });

  it("are accepted by the service when they are sent in the order of the reference", async () => {
    const sent = operations.filter(
      ({ operationId, responses }) => operationId !== "logIn" && !responses["200"]?.content?.["text/event-stream"],
    );
    const inOrder = [...sent].sort((a, b) => Number(a.method === "delete") - Number(b.method === "delete"));
    for (const { method, path, operationId, parameters, requestBody, responses } of inOrder) {
      const exampleOf = (name: string) => parameters.find((one) => one.name === name)?.example ?? "";
      const url = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(exampleOf(name)));
      const token = path.startsWith("/hooks/") ? { Authorization: `Bearer ${HOOK_TOKEN}` } : {};
      const isText = requestBody?.content["text/plain"] !== undefined;
      const { status, body } = await app.call(
        method.toUpperCase(),
        url,
        requestBody?.content[JSON_TYPE]?.example ?? requestBody?.content["text/plain"]?.example,
        { ...token, ...(isText && { "Content-Type": "text/plain" }) },
      );
      // Runs, deliveries and events have identifiers of the service, which no example can name.
      const accepted = [...Object.keys(responses).filter((one) => one.startsWith("2"))];
      if (/runId|requestId|deliveryId|eventId|sessionKey/.test(path)) accepted.push("404");
      if (["withdrawGate", "revokeShares"].includes(operationId)) accepted.push("404"); // the job was deleted just before
      if (operationId === "checkChannel") accepted.push("503"); // no worker runs
      expect(String(status), `${operationId}: ${JSON.stringify(body)}`).to.be.oneOf(accepted);
    }
  });

  it("stand beside a description of each field and parameter", async () => {
    const { body } = await app.call("GET", "/openapi.json");

    expect(undescribed(body, "")).to.deep.equal([]);
  });

  it("stand beside descriptions that follow the house style", async () => {
    const { body } = await app.call("GET", "/openapi.json");
    const faults = descriptionsIn(body).flatMap((text) => {
      const sentences = text.replace(/`[^`]*`/g, "code").split(/(?<=[.:!?])\s+|\n+/);
      return sentences.flatMap((sentence) => faultsOf(sentence).map((fault) => `${sentence}: ${fault}`));
    });

    expect([...new Set(faults)]).to.deep.equal([]);
  });

  it("stand beside a summary in the imperative and a description in sentences", () => {
    for (const { operationId, summary, description } of operations) {
      expect(summary, operationId).to.match(/^[A-Z][a-z]+( \S+)+(?<!\.)$/);
      expect(description, operationId).to.match(/^[A-Z][\s\S]{40,}\.$/);
    }
  });
});

/** Returns the place of each property and parameter without a description. A reference has that of its schema. */
function undescribed(node: unknown, place: string): string[] {
  if (typeof node !== "object" || node === null) return [];
  const { properties = {}, parameters = [] } = node as {
    properties?: Record<string, { description?: string; $ref?: string }>;
    parameters?: Operation["parameters"] | object;
  };
  const described = [...Object.entries(properties), ...(Array.isArray(parameters) ? parameters.entries() : [])];
  return [
    ...described.flatMap(([name, one]) => (one.description || one.$ref ? [] : [`${place}/${name}`])),
    ...Object.entries(node).flatMap(([key, value]) => (key === "example" ? [] : undescribed(value, `${place}/${key}`))),
  ];
}

/** Returns all descriptions and summaries in a part of the document. */
function descriptionsIn(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === "example") return [];
    if (["description", "summary"].includes(key) && typeof value === "string") return [value];
    return descriptionsIn(value);
  });
}
