import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { startApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { useSharedApp } from "../support/useApp.ts";

const JSON_TYPE = "Content-Type: application/json";
/** Bytes that a proxy may read as a body, and this service as a request. */
const HIDDEN = "DELETE /api/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n";

describe("requests that two parsers could read in two ways", () => {
  const app = useSharedApp();
  before(async () => {
    await app.call("PUT", "/api/jobs/kept", {});
  });

  /** Sends bytes unchanged. Returns all data until the service closes the connection. */
  async function send(bytes: string): Promise<string> {
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
    socket.on("error", () => {}); // The service may close it during a write.
    socket.write(Buffer.from(bytes, "latin1"));
    return text(socket);
  }
  const put = (headers: readonly string[], body: string) =>
    `PUT /api/jobs/smuggled HTTP/1.1\r\n${["Host: localhost", JSON_TYPE, ...headers].join("\r\n")}\r\n\r\n${body}`;

  const twofold: [string, string][] = [
    ["two lengths", put(["Content-Length: 2", `Content-Length: ${2 + HIDDEN.length}`], `{}${HIDDEN}`)],
    ["two lengths in one header", put(["Content-Length: 2, 57"], `{}${HIDDEN}`)],
    ["a length with a sign", put(["Content-Length: +2"], `{}${HIDDEN}`)],
    ["a length in hexadecimal", put(["Content-Length: 0x2"], `{}${HIDDEN}`)],
    ["chunks and a length", put(["Transfer-Encoding: chunked", "Content-Length: 5"], `0\r\n\r\n${HIDDEN}`)],
    ["a length and chunks", put(["Content-Length: 5", "Transfer-Encoding: chunked"], `0\r\n\r\n${HIDDEN}`)],
    ["chunks that are not the last encoding", put(["Transfer-Encoding: chunked, identity"], `0\r\n\r\n${HIDDEN}`)],
    ["an encoding that nobody knows", put(["Transfer-Encoding: xchunked"], `0\r\n\r\n${HIDDEN}`)],
    ["chunks twice", put(["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], `0\r\n\r\n${HIDDEN}`)],
    ["a space before the colon", put(["Transfer-Encoding : chunked", "Content-Length: 2"], `{}${HIDDEN}`)],
    [
      "a header that goes on in the next line",
      put(["Content-Length: 2", "X-A: 1", " Content-Length: 5"], `{}${HIDDEN}`),
    ],
    ["a header without a name", put([": 1", "Content-Length: 2"], `{}${HIDDEN}`)],
    ["lines that end in a line feed alone", put(["Content-Length: 2\nTransfer-Encoding: chunked"], `{}${HIDDEN}`)],
    [
      "a carriage return within a header",
      put(["X-A: 1\rTransfer-Encoding: chunked", "Content-Length: 2"], `{}${HIDDEN}`),
    ],
    ["a zero byte in a header", put(["X-A: 1\0", "Content-Length: 2"], `{}${HIDDEN}`)],
    ["a chunk whose size is none", put(["Transfer-Encoding: chunked"], `2x\r\n{}\r\n0\r\n\r\n${HIDDEN}`)],
    ["a chunk that is longer than it says", put(["Transfer-Encoding: chunked"], `2\r\n{}x\r\n0\r\n\r\n${HIDDEN}`)],
  ];
  for (const [title, bytes] of twofold) {
    it(`are refused and end the connection: ${title}`, async () => {
      const answered = await send(bytes);

      expect(answered.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(["HTTP/1.1 400"]);
      expect((await app.call("GET", "/api/jobs/kept")).status).to.equal(200);
      expect((await app.call("GET", "/api/jobs/smuggled")).status).to.equal(404);
    });
  }

  it("do not include unambiguous ones: the bytes after a body are the next request", async () => {
    const next = put(["Content-Length: 2", "Connection: close"], "{}").replace("smuggled", "next");

    await send(`${put(["Content-Length: 2"], "{}").replace("smuggled", "first")}${next}`);

    for (const name of ["first", "next"]) {
      await eventually(async () => (await app.call("GET", `/api/jobs/${name}`)).status === 200, name);
    }
  });
});

describe("a forwarded header without a trusted proxy", () => {
  it("is ignored: the address, the host name and the protocol", async () => {
    const app = await startApp({ apiToken: "an-api-token-of-length" });
    const forwarded = {
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-For": "127.0.0.1",
    };
    const logIn = (headers: Record<string, string>) =>
      app.call("POST", "/session", { token: "an-api-token-of-length" }, { ...forwarded, ...headers });

    const own = await logIn({ Origin: app.url });
    const foreign = await logIn({ Origin: "https://evil.example" });
    await app.close();

    expect([own.status, foreign.status]).to.deep.equal([204, 403]);
    expect(own.headers.get("Set-Cookie")).to.not.include("Secure");
  });
});

describe("a page of another site", () => {
  const app = useSharedApp();
  before(async () => {
    await app.call("PUT", "/api/jobs/kept", { name: "kept" });
  });

  it("may read no response and gets no permission: no response has a CORS header", async () => {
    const preflight = {
      Origin: "https://evil.example",
      "Access-Control-Request-Method": "PUT",
      "Access-Control-Request-Headers": "authorization",
    };

    for (const path of ["/api/jobs", "/api/jobs/kept", "/session", "/metrics", "/openapi.json", "/nowhere"]) {
      for (const method of ["OPTIONS", "GET"]) {
        const { headers } = await app.call(method, path, undefined, preflight);
        const shared = [...headers.keys()].filter((name) => name.startsWith("access-control"));
        expect(shared, `${method} ${path}`).to.deep.equal([]);
        if (method === "GET") expect(headers.get("Cross-Origin-Resource-Policy"), path).to.equal("same-origin");
      }
    }
  });

  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"]) {
    it(`changes nothing by a form that the browser sends as ${type}, even an old browser`, async () => {
      const forms = ["/api/jobs/kept/steps/a", "/session", "/api/jobs"];
      const refused: string[] = [];

      for (const path of forms) {
        for (const headers of [{ Origin: "null" }, { "Sec-Fetch-Site": "cross-site" }, {}]) {
          const { status } = await app.call("POST", path, '{"token":"a"}', { "Content-Type": type, ...headers });
          refused.push(`${path} ${status}`);
        }
      }

      expect(refused.filter((line) => !/ 4\d\d$/.test(line))).to.deep.equal([]);
      expect((await app.call("GET", "/api/jobs/kept?include=steps")).body.steps).to.deep.equal([]);
    });
  }
});
