import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";

const CONFIGS: Readonly<Record<string, string>> = {
  "without hooks": "{}",
  "with hooks": `{ hooks: { enabled: true, token: "a-hook-token-of-length" } }`,
};

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: object;
  readonly anyOf?: readonly Schema[];
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema; example?: unknown }>> };
  readonly responses: Readonly<
    Record<string, { description: string; content?: Readonly<Record<string, { schema: Schema; example?: unknown }>> }>
  >;
}

/** Checks what linters check at night (test/generators), as far as a clone can. */
for (const [title, config] of Object.entries(CONFIGS)) {
  describe(`/openapi.json of a service ${title}`, () => {
    let app: TestApp;
    // biome-ignore lint/suspicious/noExplicitAny: the document has any shape
    let document: any;
    let operations: readonly Operation[];
    before(async () => {
      app = await startApp({ config });
      document = (await app.call("GET", "/openapi.json")).body;
      operations = Object.values<Record<string, Operation>>(document.paths).flatMap((path) => Object.values(path));
    });
    after(() => app.close());

    it("has for each operation an id of its own, a summary, a description and the credentials that it takes", () => {
      const schemes = Object.keys(document.components.securitySchemes);
      for (const { operationId, summary, description, security = document.security } of operations) {
        const own = operations.filter((one) => one.operationId === operationId);
        expect(own, operationId).to.have.length(1);
        expect([summary, description], operationId).to.satisfy((texts: string[]) => texts.every(Boolean));
        for (const one of security) {
          expect(schemes, operationId).to.include.members(Object.keys(one));
          // linters expect scopes of OAuth only
          expect(Object.values(one).flat(), operationId).to.deep.equal([]);
        }
      }
    });

    it("has a named schema and an example for each body", () => {
      for (const { operationId, requestBody, responses } of operations) {
        const bodies = [requestBody, ...Object.values(responses)].flatMap((one) => Object.entries(one?.content ?? {}));
        for (const [type, { schema, example }] of bodies) {
          if (type !== "application/problem+json") expect(example, `${operationId} ${type}`).to.not.equal(undefined);
          if (schema.type !== "string") expect(schema.$ref, `${operationId} ${type}`).to.be.a("string");
        }
      }
    });

    it("has no object with fields and no union of objects without a name, for which generators make up one", () => {
      const nameless = [
        ...namelessIn(document.paths, "paths"),
        ...Object.entries<object>(document.components.schemas).flatMap(([name, schema]) =>
          Object.entries(schema).flatMap(([key, value]) => namelessIn(value, `${name}.${key}`)),
        ),
      ];

      expect(nameless).to.deep.equal([]);
    });

    it("has no schema that is named as the constructor of another in Go, `New` and the other's name", () => {
      const names = Object.keys(document.components.schemas);

      expect(names.filter((name) => names.includes(`New${name}`))).to.deep.equal([]);
    });
  });
}

describe("the description of mapped hooks", () => {
  it("is part of /openapi.json before a mapping is configured, and an unknown name is answered 404", async () => {
    const app = await startApp({ config: CONFIGS["with hooks"] as string });
    const headers = { Authorization: "Bearer a-hook-token-of-length" };

    const { body: document } = await app.call("GET", "/openapi.json");
    const unknown = await app.call("POST", "/hooks/ci", {}, headers);
    await app.close();

    expect(document.paths["/hooks/{name}"].post.operationId).to.equal("callHook");
    expect([unknown.status, unknown.body.code]).to.deep.equal([404, "hook_not_found"]);
  });
});

/** Returns the places of schemas that need a name. */
function namelessIn(part: unknown, place: string): string[] {
  if (typeof part !== "object" || part === null) return [];
  const { type, properties, anyOf } = part as Schema;
  const isNameless =
    (type === "object" && properties !== undefined) ||
    (Array.isArray(anyOf) && anyOf.filter((one) => one.$ref || one.type === "object").length > 1);
  return [
    ...(isNameless ? [place] : []),
    ...Object.entries(part).flatMap(([key, value]) => (key === "example" ? [] : namelessIn(value, `${place}.${key}`))),
  ];
}
