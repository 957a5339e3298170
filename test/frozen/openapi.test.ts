import { useSharedApp } from "../support/useApp.ts";
import { expectRecorded } from "./recorded.ts";
import { withoutWords } from "./withoutWords.ts";

const CONFIG = `{
  server: { apiToken: "an-api-token-of-length", readOnlyToken: "a-reading-token-of-length" },
  hooks: { enabled: true, token: "a-hook-token-of-length", mappings: [{ match: { path: "ci" } }] },
}`;

// biome-ignore lint/suspicious/noExplicitAny: the document has any shape
type Document = any;

describe("/openapi.json", () => {
  const app = useSharedApp({ config: CONFIG });

  it("describes the recorded routes, schemas and answers, whatever its words", async () => {
    const { body: document } = await app.call("GET", "/openapi.json");

    delete document.info.version; // each release has another
    expectRecorded("openapi", withoutWords(document));
  });

  it("names the recorded error codes for each operation", async () => {
    const { body: document } = await app.call("GET", "/openapi.json");

    expectRecorded("errorsOfOperations", errorsOf(document));
  });
});

/** Returns the error codes by operation and status; the descriptions of answers alone name them. */
function errorsOf(document: Document): object {
  const codes = new Set<string>(document.components.schemas.Problem.properties.code.enum);
  const namedIn = (text: string) =>
    [...text.matchAll(/`(\w+)`/g)].flatMap(([, word = ""]) => (codes.has(word) ? word : []));
  const operations: Document[] = Object.values<object>(document.paths).flatMap((path) => Object.values(path));
  return Object.fromEntries(
    operations.map(({ operationId, responses }) => [
      operationId,
      Object.fromEntries(
        Object.entries<Document>(responses)
          .filter(([, { content }]) => content?.["application/problem+json"])
          .map(([status, { description }]) => [status, namedIn(description).sort()]),
      ),
    ]),
  );
}
