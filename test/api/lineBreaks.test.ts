import { expect } from "chai";
import { createJob, report } from "../support/factories.ts";
import { useSharedApp } from "../support/useApp.ts";

const TOKEN = { Authorization: "Bearer a-hook-token-of-length" };
const CONFIG = `{ hooks: { enabled: true, token: "a-hook-token-of-length", mappings: [{ match: { path: "ci" } }] } }`;

describe("answers end with a line break", () => {
  const app = useSharedApp({ config: CONFIG });
  let path: string;
  before(async () => {
    path = (await createJob(app)).path;
    await report(app, path, "load", { progress: 10 });
  });
  const send = (method: string, at: string, body?: object, headers = {}) =>
    fetch(app.url + at, {
      method,
      headers: {
        ...TOKEN,
        ...(body && { "Content-Type": "application/json" }),
        "Accept-Encoding": "identity",
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });

  const answers: [string, string, () => string, object?][] = [
    ["a list", "GET", () => "/api/jobs"],
    ["a job", "GET", () => path],
    ["a job with its steps", "GET", () => `${path}?include=steps`],
    ["a changed job", "PUT", () => path, { name: "Größe" }],
    ["a reported step", "PUT", () => `${path}/steps/load`, { progress: 20 }],
    ["the statistics", "GET", () => "/api/stats"],
    ["a built-in hook", "POST", () => "/hooks/agent", { message: "x" }],
    ["a mapped hook", "POST", () => "/hooks/ci", {}],
    ["a probe", "GET", () => "/healthz"],
    ["the log-in", "GET", () => "/session"],
    ["the description of the API", "GET", () => "/openapi.json"],
    ["a ping", "POST", () => "/api/ping/backup?new=1"],
    ["a record that does not exist", "GET", () => "/api/jobs/nobody"],
    ["an invalid body", "PUT", () => path, { nme: "x" }],
    ["an unknown path", "GET", () => "/api/nowhere"],
    ["an unknown hook", "POST", () => "/hooks/nobody", {}],
    ["a deletion", "DELETE", () => "/api/jobs?jobId=nobody"],
  ];
  for (const [title, method, at, body] of answers) {
    it(`${title}: the text ends with one, and Content-Length counts it`, async () => {
      const response = await send(method, at(), body);
      const bytes = Buffer.from(await response.arrayBuffer());

      expect(bytes.toString()).to.match(/[^\n]\n$/);
      expect(response.headers.get("Content-Length")).to.equal(String(bytes.length));
      if (response.headers.get("Content-Type")?.includes("json")) JSON.parse(bytes.toString());
    });
  }

  it("HEAD has the Content-Length of GET", async () => {
    for (const at of [path, "/api/jobs", "/openapi.json"]) {
      const [head, get] = await Promise.all([send("HEAD", at), send("GET", at)]);
      expect(head.headers.get("Content-Length"), at).to.equal(String((await get.arrayBuffer()).byteLength));
    }
  });

  it("the ETag of a job stays the same while it does not change, and answers 304", async () => {
    const [first, second] = [await send("GET", path), await send("GET", path)];
    const etag = first.headers.get("ETag") ?? "";

    const unchanged = await send("GET", path, undefined, { "If-None-Match": etag });

    expect(second.headers.get("ETag")).to.equal(etag).and.match(/^W\//);
    expect([unchanged.status, await unchanged.text()]).to.deep.equal([304, ""]);
  });
});
