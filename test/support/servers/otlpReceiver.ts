import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";

/** A span as it was received, with its attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly flags: number }[];
  readonly status: { readonly code?: number };
}

interface ReceiverAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface OtlpReceiver {
  readonly url: string;
  /** The spans of all requests that were answered with success. */
  readonly spans: ReceivedSpan[];
  readonly requests: { readonly headers: IncomingMessage["headers"]; readonly spans: number; readonly bytes: number }[];
  /** The faults of requests. */
  readonly faults: unknown[];
  /** Answers of the next requests; afterwards `{}`. Without an answer a request stays open. */
  readonly answers: (ReceiverAnswer | null)[];
  close(): Promise<void>;
}

// The package declares no types of its definitions.
const definitions = createRequire(import.meta.url)("@opentelemetry/otlp-transformer/build/src/generated/root.js");
const Request = definitions.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

/**
 * Starts a receiver of traces by OTLP over HTTP. It holds every request against the official definitions: it encodes the JSON as
 * protobuf and decodes it again, and whatever the definitions lack, or have with another type, is lost on the way.
 */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: OtlpReceiver["requests"] = [];
  const faults: unknown[] = [];
  const answers: (ReceiverAnswer | null)[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const answer = answers.length > 0 ? answers.shift() : {};
    try {
      const read = readRequest(req, Buffer.concat(chunks));
      requests.push({ headers: req.headers, spans: read.spans.length, bytes: read.bytes });
      if (answer && (answer.status ?? 200) === 200) spans.push(...read.spans);
    } catch (error) {
      faults.push(error);
      res.writeHead(400).end();
      return;
    }
    if (!answer) return;
    const { status = 200, headers = {}, body = "{}" } = answer;
    res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    faults,
    answers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The limit that receivers have for a request, in bytes. */
const MAX_BYTES = 20 * 1024 * 1024;

function readRequest(req: IncomingMessage, body: Buffer): { spans: ReceivedSpan[]; bytes: number } {
  expect([req.method, req.url]).to.deep.equal(["POST", "/v1/traces"]);
  expect(req.headers["content-type"]).to.equal("application/json");
  expect(req.headers["content-encoding"]).to.equal("gzip");
  const text = gunzipSync(body).toString();
  expect(Buffer.byteLength(text)).to.be.below(MAX_BYTES);
  const sent = JSON.parse(text);
  expect(throughProtobuf(sent)).to.deep.equal(sent);
  const spans = sent.resourceSpans.flatMap((resource: Json) => {
    expect(byName(resource.resource.attributes)).to.include({ "service.name": "signalbox" });
    return resource.scopeSpans.flatMap((scope: Json) => scope.spans.map(readSpan));
  });
  expect(spans).to.not.deep.equal([]);
  return { spans, bytes: Buffer.byteLength(text) };
}

// biome-ignore lint/suspicious/noExplicitAny: what was received may be anything
type Json = any;

/** Ids are hexadecimal in the JSON form of OTLP, where protobuf's own would have base64. */
const withIds = (value: Json, convert: (id: string) => string): Json => {
  if (Array.isArray(value)) return value.map((one) => withIds(one, convert));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      /^(traceId|spanId|parentSpanId)$/.test(key) ? convert(one as string) : withIds(one, convert),
    ]),
  );
};

function throughProtobuf(sent: Json): Json {
  const based = withIds(sent, (id) => Buffer.from(id, "hex").toString("base64"));
  const fault = Request.verify(Request.fromObject(based));
  if (fault) throw new Error(fault);
  const bytes = Request.encode(Request.fromObject(based)).finish();
  const decoded = Request.toObject(Request.decode(bytes), { longs: String, bytes: String });
  return withIds(decoded, (id) => Buffer.from(id, "base64").toString("hex"));
}

function readSpan(span: Json): ReceivedSpan {
  expect(span.traceId).to.match(/^(?!0+$)[0-9a-f]{32}$/);
  expect(span.spanId).to.match(/^(?!0+$)[0-9a-f]{16}$/);
  expect(span.name).to.be.a("string").and.not.equal("");
  expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).to.equal(true);
  const names = span.attributes.map(({ key }: { key: string }) => key);
  expect(new Set(names).size).to.equal(names.length);
  return { links: [], status: {}, ...span, attributes: byName(span.attributes) };
}

const byName = (attributes: Json[]): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
