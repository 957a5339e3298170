import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { request } from "undici";
import { createJob } from "../../support/factories.ts";
import { useSharedApp } from "../../support/useApp.ts";

describe("compression of responses", () => {
  const app = useSharedApp();
  before(async () => {
    for (let i = 0; i < 30; i++) await createJob(app, { name: `Nightly report ${i}` });
    await app.call("PUT", "/api/jobs/small", { name: "Small" });
  });

  async function get(path: string, headers: Record<string, string> = { "accept-encoding": "gzip, br" }) {
    const response = await request(app.url + path, { headers });
    return { ...response, bytes: Buffer.from(await response.body.arrayBuffer()) };
  }

  for (const path of ["/api/jobs", "/metrics", "/openapi.json"]) {
    it(`sends ${path} with gzip to a client that accepts it, and plain to others`, async () => {
      const [packed, plain] = [await get(path), await get(path, {})];

      expect(packed.headers["content-encoding"]).to.equal("gzip");
      expect(plain.headers["content-encoding"]).to.equal(undefined);
      expect(gunzipSync(packed.bytes).length).to.be.greaterThan(2 * packed.bytes.length);
      expect(packed.headers["content-type"]).to.equal(plain.headers["content-type"]);
      for (const { headers } of [packed, plain]) expect(headers.vary).to.match(/accept-encoding/i);
      if (path === "/api/jobs")
        expect(JSON.parse(String(gunzipSync(packed.bytes)))).to.deep.equal(JSON.parse(String(plain.bytes)));
    });
  }

  for (const encodings of ["identity", "gzip;q=0", "gzip;q=0, identity", "br"]) {
    it(`does not compress for a client with Accept-Encoding: ${encodings}`, async () => {
      const { headers, bytes } = await get("/api/jobs", { "accept-encoding": encodings });

      expect(headers["content-encoding"]).to.equal(undefined);
      expect(JSON.parse(String(bytes)).jobs).to.have.length(31);
    });
  }

  it("sends the same length and encoding for HEAD as for GET", async () => {
    const full = await get("/api/jobs");
    const head = await request(`${app.url}/api/jobs`, { method: "HEAD", headers: { "accept-encoding": "gzip" } });
    await head.body.dump();

    for (const name of ["content-encoding", "content-length", "content-type", "vary"])
      expect(head.headers[name], name).to.equal(full.headers[name]);
  });

  it("does not compress small bodies and errors", async () => {
    const answers = [await get("/api/jobs/small"), await get("/api/jobs/none")];

    expect(answers.map(({ headers }) => headers["content-encoding"])).to.deep.equal([undefined, undefined]);
    expect(answers[0]?.headers["content-length"]).to.equal(String(answers[0]?.bytes.length));
  });

  it("answers 304 to a client that has the job, whether it was sent compressed or not", async () => {
    await app.call("PUT", "/api/jobs/large", { name: "Large", input: { text: "a".repeat(10_000) } });
    const first = await get("/api/jobs/large");
    const again = await get("/api/jobs/large", {
      "accept-encoding": "gzip",
      "if-none-match": String(first.headers.etag),
    });

    expect(first.headers["content-encoding"]).to.equal("gzip");
    expect([again.statusCode, again.bytes.length]).to.deep.equal([304, 0]);
  });

  it("sends live events at once to a client that accepts gzip", async () => {
    const abort = new AbortController();
    const stream = await fetch(`${app.url}/api/events`, {
      headers: { "accept-encoding": "gzip" },
      signal: abort.signal,
    });
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    abort.abort();

    expect(stream.headers.get("content-encoding")).to.equal(null);
    expect(value?.length).to.be.greaterThan(0);
  });
});
