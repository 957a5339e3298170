import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { createJob } from "../support/factories.ts";
import { useSharedApp } from "../support/useApp.ts";

describe("error responses", () => {
  const app = useSharedApp({ timings: { drainBodyMs: 60_000 } });
  let job: string;
  before(async () => {
    // A busy machine takes long for the large bodies below.
    job = (await createJob(app)).path;
  });

  const put = (path: string, body: unknown, headers?: Record<string, string>) => app.call("PUT", path, body, headers);
  const step = (body: unknown) => put(`${job}/steps/s`, body);

  it("are problem details with type, title, status, detail and code", async () => {
    const { status, headers, body } = await app.call("GET", "/api/jobs/nobody");

    expect(status).to.equal(404);
    expect(headers.get("Content-Type")).to.equal("application/problem+json");
    expect(body).to.deep.equal({
      type: "/docs/errors#job_not_found",
      title: "The job does not exist.",
      status: 404,
      detail: 'There is no job "nobody".',
      code: "job_not_found",
    });
  });

  const bodies: [
    string,
    () => Promise<{ status: number; body: { code: string; errors?: { pointer: string; detail: string }[] } }>,
    string,
    string?,
  ][] = [
    ["broken JSON", () => put(job, "{"), "invalid_json"],
    ["a JSON list", () => put(job, "[]"), "invalid_body"],
    ["a JSON text", () => put(job, '"x"'), "invalid_json"],
    ["JSON null", () => put(job, "null"), "invalid_json"],
    ["an empty JSON text", () => put(job, " "), "invalid_json"],
    ["an unknown field", () => step({ stepName: "S", jobProgresEnd: 1 }), "invalid_body", "/jobProgresEnd"],
    ["an unknown field of a job", () => put(job, { nmae: "x" }), "invalid_body", "/nmae"],
    ["a field with odd characters", () => put(job, { "a/b~c": 1 }), "invalid_body", "/a~1b~0c"],
    ["a prototype as a field", () => put(job, '{"__proto__":{"name":"x"}}'), "invalid_body", "/__proto__"],
    ["a wrong status", () => step({ stepName: "S", status: "done" }), "invalid_body", "/status"],
    ["progress above 100", () => step({ stepName: "S", progress: 100.5 }), "invalid_body", "/progress"],
    ["progress below 0", () => step({ stepName: "S", progress: -1 }), "invalid_body", "/progress"],
    ["progress as text", () => step({ stepName: "S", progress: "50" }), "invalid_body", "/progress"],
    ["progress as null", () => step({ stepName: "S", progress: null }), "invalid_body", "/progress"],
    ["an infinite number", () => step('{"stepName":"S","progress":1e999}'), "invalid_body", "/progress"],
    [
      "a range that ends before it begins",
      () => step({ stepName: "S", jobProgressStart: 60, jobProgressEnd: 40 }),
      "invalid_body",
      "/jobProgressEnd",
    ],
    ["an output that is a list", () => step({ stepName: "S", output: [] }), "invalid_body", "/output"],
    ["an input that is a text", () => put(job, { input: "x" }), "invalid_body", "/input"],
    ["a message that is a number", () => step({ stepName: "S", message: 5 }), "invalid_body", "/message"],
    ["an empty stepName", () => step({ stepName: "" }), "invalid_body", "/stepName"],
    ["failJob as text", () => step({ stepName: "S", failJob: "true" }), "invalid_body", "/failJob"],
    ["a stale time of 0", () => put(job, { staleAfterSeconds: 0 }), "invalid_body", "/staleAfterSeconds"],
    ["a name of 2,000 characters", () => put(job, { name: "x".repeat(2_000) }), "invalid_body", "/name"],
  ];
  for (const [title, send, code, pointer] of bodies) {
    it(`answer ${title} with 400 ${code}${pointer ? ` at ${pointer}` : ""}, and store nothing`, async () => {
      const before = (await app.call("GET", `${job}?include=steps`)).body;

      const { status, body } = await send();

      expect(status).to.equal(400);
      expect(body.code).to.equal(code);
      if (pointer) expect(body.errors?.[0]?.pointer).to.equal(pointer);
      expect((await app.call("GET", `${job}?include=steps`)).body).to.deep.equal(before);
    });
  }

  it("suggest the field that was probably meant", async () => {
    const { body } = await step({ stepName: "S", jobProgresEnd: 1 });

    expect(body.detail).to.equal("jobProgresEnd is not known; did you mean jobProgressEnd?");
  });

  it("stay short and suggest nothing when the name of a field fills the whole body", async () => {
    const { status, body } = await step({ ["x".repeat(4_000_000)]: 1 });

    expect([status, body.code]).to.deep.equal([400, "invalid_body"]);
    expect(JSON.stringify(body)).to.have.length.below(1_000);
    expect(body.errors[0].detail).to.equal("is not known");
  });

  it("list each fault of a body once, and at most 100 faults", async () => {
    const two = await step({ progress: "x", status: "y" });
    const nullable = await put(job, { name: 1, description: [], output: "x", staleAfterSeconds: {}, progress: -1 });
    const many = await step(Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`f${i}`, i])));

    expect(two.body.errors.map((error: { pointer: string }) => error.pointer)).to.have.members([
      "/progress",
      "/status",
    ]);
    const errorsByPointer = Object.fromEntries(
      nullable.body.errors.map((one: { pointer: string }) => [one.pointer, one]),
    );
    expect(nullable.body.errors).to.have.length(5);
    expect(errorsByPointer).to.have.all.keys("/name", "/description", "/output", "/staleAfterSeconds", "/progress");
    expect(errorsByPointer["/name"].detail).to.equal("must be a string or null");
    expect(nullable.body.detail).to.include("and 4 more");
    expect(many.body.errors).to.have.length(100);
  });

  it("answer a body over the limit with 413, even without a length or when only its decompressed size exceeds it", async () => {
    const large = `{"name":"${"x".repeat(4_200_000)}"}`;
    const whole = await put(job, large);
    const chunked = await fetch(app.url + job, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: new Blob([large]).stream(),
      duplex: "half",
    } as RequestInit);
    const packed = await fetch(app.url + job, {
      method: "PUT",
      headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" },
      body: gzipSync(large),
    });

    expect([whole.status, whole.body.code]).to.deep.equal([413, "body_too_large"]);
    expect([chunked.status, packed.status]).to.deep.equal([413, 413]);
    await chunked.text();
    await packed.text();
  });

  it("reject an output whose stored form would be too large, and store nothing of the report", async () => {
    const output = `{"numbers":[${"1e20,".repeat(400_000)}1]}`; // each number grows from 5 to 22 bytes when stored

    const { status, body } = await step(
      `{"stepName":"S","progress":100,"jobProgressStart":0,"jobProgressEnd":100,"output":${output}}`,
    );

    expect([status, body.code]).to.deep.equal([413, "body_too_large"]);
    expect((await app.call("GET", `${job}?include=steps`)).body).to.deep.include({ status: "running", steps: [] });
  });

  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "application/json; charset=iso-8859-1",
    "application/json; charset=utf-16",
  ]) {
    it(`answer a body of type ${type} with 415`, async () => {
      const { status, body } = await put(job, "{}", { "Content-Type": type });

      expect([status, body.code]).to.deep.equal([415, "unsupported_media_type"]);
    });
  }

  for (const type of [
    "application/json; charset=utf-8",
    'application/json; charset="UTF-8"',
    "application/json; charset=us-ascii",
    "application/merge-patch+json",
    "APPLICATION/JSON",
  ]) {
    it(`accept a body of type ${type}`, async () => {
      expect((await put(job, "{}", { "Content-Type": type })).status).to.equal(200);
    });
  }

  for (const [coding, pack] of [
    ["gzip", gzipSync],
    ["GZIP", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["Identity", (text: string) => text],
  ] as const) {
    it(`accept a body that is compressed with ${coding}`, async () => {
      const { path } = await createJob(app, { name: coding });
      const headers = { "Content-Type": "application/json", "Content-Encoding": coding };

      const answer = await fetch(app.url + path, {
        method: "PUT",
        headers,
        body: pack(JSON.stringify({ name: coding })),
      });

      expect([answer.status, (await app.call("GET", path)).body.name]).to.deep.equal([200, coding]);
      await answer.text();
    });
  }

  it("answer an unknown content encoding with 415", async () => {
    const { status, body } = await put(job, "{}", { "Content-Encoding": "zopfli" });

    expect([status, body.code]).to.deep.equal([415, "unsupported_media_type"]);
  });

  const nowhere = [
    "/api",
    "/api/",
    "/api/job",
    "/API/jobs",
    "/api/jobs/a/",
    "/api/jobs/a/steps/",
    "/api/jobs/a/b/c",
    "//api/jobs",
  ];
  for (const path of nowhere) {
    it(`answer ${path} with 404 not_found`, async () => {
      const { status, body } = await app.call("GET", path);

      expect([status, body.code]).to.deep.equal([404, "not_found"]);
    });
  }

  const methods: [string, string, string][] = [
    ["POST", "/api/jobs", "GET, HEAD, DELETE, OPTIONS"],
    ["PATCH", "/api/jobs/a", "PUT, GET, HEAD, DELETE, OPTIONS"],
    ["DELETE", "/api/jobs/a/steps/b", "PUT, GET, HEAD, OPTIONS"],
    ["PUT", "/api/stats", "GET, HEAD, OPTIONS"],
    ["PROPFIND", "/healthz", "GET, HEAD, OPTIONS"],
  ];
  for (const [method, path, allow] of methods) {
    it(`answer ${method} ${path} with 405 and Allow`, async () => {
      const { status, body, headers } = await app.call(method, path);

      expect([status, body.code]).to.deep.equal([405, "method_not_allowed"]);
      expect(headers.get("Allow")?.split(", ")).to.have.members(allow.split(", "));
    });
  }

  it("name the call that creates a job, and a path without a slash at its end", async () => {
    const created = await app.call("POST", "/api/jobs");
    const trailing = await app.call("GET", "/api/jobs/");
    const unknown = await app.call("GET", "/api/nothing/");

    expect(created.body.detail).to.match(/ Create a job with PUT \/api\/jobs\/\{jobId\}, with an id of your own\.$/);
    expect(trailing.body.detail).to.match(/\/api\/jobs\/\. Leave out the slash at the end: \/api\/jobs\.$/);
    expect(unknown.body.detail).to.match(/ See \/docs for the list of endpoints\.$/);
  });

  it("answer OPTIONS with the methods of the path", async () => {
    const { status, headers } = await app.call("OPTIONS", "/api/jobs");

    expect(status).to.equal(204);
    expect(headers.get("Allow")).to.include("DELETE");
  });

  it("log no body, no token and no query", async () => {
    const secret = "correct-horse-battery";
    await put(job, `{"input":{"a":"${secret}"`, { Authorization: `Bearer ${secret}` });
    await put(job, { name: secret, message: secret, unknown: secret });
    await app.call("GET", `/api/jobs?name=${secret}&token=${secret}`);

    expect(app.log.length).to.be.greaterThan(10);
    expect(JSON.stringify(app.log)).to.not.include(secret);
  });

  it("carry the request's id, which is also in the log", async () => {
    const own = await app.call("GET", "/api/jobs/nobody", undefined, { "X-Request-Id": "trace-7" });
    const odd = await app.call("GET", "/api/jobs/nobody", undefined, { "X-Request-Id": "a b\tc" });

    expect(own.headers.get("X-Request-Id")).to.equal("trace-7");
    expect(odd.headers.get("X-Request-Id")).to.match(/^[0-9a-f-]{36}$/);
    expect(app.log.find((line) => line.reqId === "trace-7")).to.include({
      status: 404,
      code: "job_not_found",
      method: "GET",
    });
  });

  it("leave the service running when a client disconnects in the middle of its body", async () => {
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
    socket.write(
      `PUT ${job} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":`,
    );
    socket.end();
    await text(socket);

    expect((await app.call("GET", job)).status).to.equal(200);
  });

  const LARGE = Buffer.alloc(20_000_000, "1234567890"); // more than the socket buffers of both ends hold
  const CHUNK = Buffer.concat([Buffer.from(`${LARGE.length.toString(16)}\r\n`), LARGE, Buffer.from("\r\n0\r\n\r\n")]);
  const PACKED = gzipSync(randomBytes(20_000_000), { level: 0 });
  for (const [title, head, sent, expected] of [
    ["is too large", `Content-Length: ${LARGE.length}`, LARGE, [413, "body_too_large"]],
    ["is too large and has no length", "Transfer-Encoding: chunked", CHUNK, [413, "body_too_large"]],
    [
      "is too large once unpacked",
      `Content-Encoding: gzip\r\nContent-Length: ${PACKED.length}`,
      PACKED,
      [413, "body_too_large"],
    ],
    [
      "cannot be decompressed",
      `Content-Encoding: gzip\r\nContent-Length: ${LARGE.length}`,
      LARGE,
      [400, "invalid_json"],
    ],
    [
      "has an unknown encoding",
      `Content-Encoding: zopfli\r\nContent-Length: ${LARGE.length}`,
      LARGE,
      [415, "unsupported_media_type"],
    ],
  ] as const) {
    it(`reach a client that sends its whole body before it reads, when that ${title}`, async () => {
      const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
      socket.write(
        `PUT ${job} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n${head}\r\n\r\n`,
      );

      await promisify<Uint8Array>(socket.write.bind(socket))(sent);
      const { status, body } = answerIn(await text(socket));

      expect([status, body.code]).to.deep.equal(expected);
    });
  }

  it("do not reveal the causes of internal errors", async () => {
    const broken = await startApp({ strict: false });
    broken.stores.jobs.find = () => Promise.reject(new Error("secret place"));

    const { status, body } = await broken.call("GET", "/api/jobs/a");
    await broken.close();

    expect([status, body.code]).to.deep.equal([500, "internal"]);
    expect(JSON.stringify(body)).to.not.include("secret place");
    expect(JSON.stringify(broken.log)).to.include("secret place");
  });
});

describe("identifiers in paths", () => {
  const app = useSharedApp();

  const good = [
    "a/b",
    "ünïcødé",
    "100%",
    "%2F",
    "a b",
    "..",
    ".",
    "?",
    "#",
    "&=+",
    "日本語",
    "👩‍🚀",
    "\\",
    "'\"<>",
    "$where",
    "x".repeat(256),
    "👍".repeat(256),
    "constructor",
    "__proto__",
  ];
  for (const id of good) {
    it(`accept ${JSON.stringify(id.length > 20 ? `${id.slice(0, 4)}…` : id)}`, async () => {
      const path = `/api/jobs/${encodeURIComponent(id).replaceAll(".", "%2E")}`;
      const raw = (method: string, path: string, body?: string) => rawCall(app, method, path, body);

      const job = await raw("PUT", path, "{}");
      const step = await raw(
        "PUT",
        `${path}/steps/${encodeURIComponent(id).replaceAll(".", "%2E")}`,
        '{"stepName":"S"}',
      );
      const read = await raw("GET", `${path}?stepKey=${encodeURIComponent(id)}`);

      expect(job.status).to.equal(201);
      expect(step.status).to.equal(201);
      expect(read.body).to.have.property("jobId", id);
      expect(read.body.step.stepKey).to.equal(id);
    });
  }

  const bad: [string, string][] = [
    ["a control character", "a%00b"],
    ["a line feed", "a%0Ab"],
    ["a C1 control character", "a%C2%85b"],
    ["DEL", "%7F"],
    ["257 characters", "x".repeat(257)],
    ["a broken encoding", "%zz"],
    ["bytes that are not UTF-8", "%FF"],
    ["half of a percent-encoding", "a%2"],
  ];
  for (const [title, id] of bad) {
    it(`reject ${title} with 400`, async () => {
      for (const path of [`/api/jobs/${id}`, `/api/jobs/a/steps/${id}`]) {
        const { status, body } = await rawCall(app, "PUT", path, "{}");

        expect([status, body.code], path).to.deep.equal([400, "invalid_query"]);
      }
    });
  }

  it("reject a control character in ?stepKey= with 400", async () => {
    const { path } = await createJob(app);

    const { status, body } = await app.call("GET", `${path}?stepKey=a%00`);

    expect([status, body.code]).to.deep.equal([400, "invalid_query"]);
  });
});

/** Sends the path unchanged; fetch would resolve dot segments. */
async function rawCall(app: TestApp, method: string, path: string, body = "") {
  const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
  const type = body ? "Content-Type: application/json\r\n" : "";
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${type}Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  return answerIn(await text(socket));
}

function answerIn(received: string) {
  const [head = "", answer = ""] = received.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body: JSON.parse(answer) };
}
