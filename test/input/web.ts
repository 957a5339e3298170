import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mongo } from "mongoose";
import { connectDatabase } from "../../src/models/database.ts";
import { ERRORS, type ErrorCode } from "../../src/shared/errorCatalogue.ts";
import { SCHEMES } from "../hooks/signatures/senders.ts";
import { eventually } from "../support/eventually.ts";
import { type Service, startProcess } from "../support/process.ts";
import { mongoUri, redisUrl } from "../support/servers/servers.ts";

export const TOKENS = {
  api: "secret-of-the-api-0001",
  readOnly: "secret-of-readers-0002",
  hooks: "secret-of-the-hooks-0003",
};
/** Texts that no log line may contain: a word of all bodies, queries and headers, and the secrets. */
export const MARKER = "the-words-of-a-sender-0007";
const CONFIDENTIAL = [MARKER, ...Object.values(TOKENS)];

export const slug = (title: string) => title.replaceAll(" ", "-");

const MAPPINGS = [
  ...SCHEMES.map(([title, { auth }]) => ({ match: { path: slug(title) }, auth: { ...auth, shared: true } })),
  { match: { path: "ci/build" }, messageTemplate: "{{a.b[0]}} {{headers.x}} {{query.a}}" },
  { match: { path: "each" }, forEach: "items", sessionKey: "each:{{item.id}}" },
];

/** A response as received. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** A web process as an operator starts it, with checks that must hold after any request. */
export class Web {
  readonly #service: Service;
  readonly #mongo: mongo.MongoClient;
  readonly #dir: string;
  readonly url: string;
  #checkedChars = 0;

  private constructor(service: Service, client: mongo.MongoClient, dir: string, url: string) {
    this.#service = service;
    this.#mongo = client;
    this.#dir = dir;
    this.url = url;
  }

  static async start(): Promise<Web> {
    const dir = mkdtempSync(join(tmpdir(), "signalbox-input-"));
    const file = join(dir, "signalbox.json5");
    writeFileSync(file, JSON.stringify({ hooks: { enabled: true, presets: ["gmail"], mappings: MAPPINGS } }));
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    await database.prepare();
    await database.close();
    const service = startProcess("src/api/main.ts", {
      MONGODB_URI: uri,
      REDIS_URL: await redisUrl(),
      LOG_LEVEL: "trace",
      SIGNALBOX_CONFIG: file,
      SIGNALBOX_API_TOKEN: TOKENS.api,
      SIGNALBOX_READ_ONLY_TOKEN: TOKENS.readOnly,
      SIGNALBOX_HOOKS_TOKEN: TOKENS.hooks,
    });
    const { url } = await service.ready;
    const web = new Web(service, await mongo.MongoClient.connect(uri), dir, url);
    await web.keep();
    return web;
  }

  /** Creates the job that other requests read. */
  async keep(): Promise<void> {
    const headers = { Authorization: `Bearer ${TOKENS.api}`, "Content-Type": "application/json" };
    for (const [path, body] of [
      ["/api/jobs/kept", { name: "kept" }],
      ["/api/jobs/kept/steps/a", { stepName: "A" }],
    ] as const) {
      const { status } = await fetch(this.url + path, { method: "PUT", headers, body: JSON.stringify(body) });
      expect(status).to.be.oneOf([200, 201]);
    }
  }

  async close(): Promise<void> {
    await this.#service.stop("SIGKILL");
    await this.#mongo.close();
    rmSync(this.#dir, { recursive: true });
  }

  /** Returns a digest of each collection. */
  async stored(): Promise<unknown> {
    const {
      // Refused tokens and requests are recorded by intention; these and the figures of jobs are stored some time after the call.
      collections: { audit: _, hookRequests: _refused, jobFigures: _figures, ...collections },
    } = await this.#mongo.db().command({ dbHash: 1 });
    return collections;
  }

  /**
   * Sends bytes unchanged. Returns the responses until the connection is closed: the client ends it after a silence, and
   * fails if it stays open. Reads only the beginning of a stream.
   */
  send(bytes: Buffer, quietMs: number): Promise<WireAnswer[]> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(this.url).port), "127.0.0.1");
      const received: Buffer[] = [];
      const quiet = setTimeout(() => socket.end(), quietMs);
      const late = setTimeout(() => {
        reject(new Error(`left open: ${show(bytes)}`));
        socket.destroy();
      }, 60_000);
      socket.on("error", () => {}); // The service may close it during a write.
      socket.on("data", (chunk) => {
        received.push(chunk);
        quiet.refresh();
        if (Buffer.concat(received).includes("Content-Type: text/event-stream")) socket.destroy();
      });
      socket.on("close", () => {
        clearTimeout(quiet);
        clearTimeout(late);
        resolve(parseAnswers(Buffer.concat(received)));
      });
      socket.write(bytes);
    });
  }

  /** Checks that it serves requests, and that its new log lines are JSON without secrets and bodies. */
  async expectWell(): Promise<void> {
    const id = randomUUID();
    const headers = { Authorization: `Bearer ${TOKENS.readOnly}`, "X-Request-Id": id };
    const kept = await fetch(`${this.url}/api/jobs/kept`, { headers }).catch((error) => {
      throw new Error(`the process serves nobody (${error.cause?.code}): ${this.#service.output().stderr}`);
    });
    expect([kept.status, ((await kept.json()) as { jobId: string }).jobId]).to.deep.equal([200, "kept"]);
    await eventually(() => this.#service.output().stdout.includes(id), "the log");

    const { stdout, stderr } = this.#service.output();
    const added = stdout.slice(this.#checkedChars);
    this.#checkedChars = stdout.length;
    expect(stderr).to.equal("");
    for (const word of CONFIDENTIAL)
      expect(added.includes(word), `${word} in ${lineWith(added, word)}`).to.equal(false);
    for (const line of added.trimEnd().split("\n")) expect(JSON.parse(line)).to.include({ process: "web" });
    expect(added.split("\n").filter((line) => line.includes('"level":50'))).to.deep.equal([]);
  }
}

const lineWith = (text: string, word: string) => text.split("\n").find((line) => line.includes(word));

export const show = (bytes: Buffer, most = 2_000): string => JSON.stringify(bytes.toString("latin1").slice(0, most));

function parseAnswers(bytes: Buffer): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf("\r\n\r\n", at);
    if (end < 0) break;
    const headers = bytes.toString("latin1", at, end);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(headers)?.[1]);
    const length = Number(/^content-length: (\d+)$/im.exec(headers)?.[1] ?? Number.NaN);
    const next = Number.isNaN(length) ? bytes.indexOf("HTTP/1.1 ", end) : end + 4 + length;
    const stop = status < 200 ? end + 4 : next < 0 ? bytes.length : next;
    // A response to HEAD has a length and no body.
    const body = bytes.subarray(end + 4, stop);
    const isHead = body.toString("latin1").startsWith("HTTP/1.1 ");
    answers.push({ status, headers, body: isHead ? "" : body.toString() });
    at = isHead ? end + 4 : stop;
  }
  return answers;
}

/** Checks that no response is a 500, and that each refusal is a problem in the documented format. */
export function expectSound(answer: WireAnswer, request: string): void {
  const { status, headers, body } = answer;
  expect(status, `${request} → ${headers}\n${body.slice(0, 500)}`).to.be.within(100, 499);
  if (status < 400 || body === "") return;
  if (!/^content-type: application\/problem\+json/im.test(headers)) return;
  const problem = JSON.parse(body);
  expect(problem, request).to.include.all.keys("type", "title", "status", "detail", "code");
  expect(ERRORS, request).to.have.property(problem.code);
  expect(problem.status, request).to.equal(status);
  expect(ERRORS[problem.code as ErrorCode].status, request).to.equal(status);
  expect(body.length, request).to.be.below(16_384);
  for (const one of problem.errors ?? []) {
    expect(one.detail, request).to.be.a("string").and.not.equal("");
    expect(one.pointer ?? one.parameter, request).to.be.a("string");
  }
}
