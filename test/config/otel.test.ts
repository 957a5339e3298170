import { expect } from "chai";
import { loadConfig, parseConfig, withoutOwnSecrets } from "../../src/config/load.ts";
import { traceTarget } from "../../src/config/otel.ts";
import { redactConfig } from "../../src/config/redact.ts";

const ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS = "OTEL_EXPORTER_OTLP_HEADERS";
const base = "http://127.0.0.1:4318";
const targetOf = (otel: object, env: Record<string, string> = {}) =>
  traceTarget(parseConfig(JSON.stringify({ otel }), env).otel);

describe("configuration of traces", () => {
  it("sends nothing without both traces and an endpoint", () => {
    expect(targetOf({})).to.equal(undefined);
    expect(targetOf({ traces: true })).to.equal(undefined);
    expect(targetOf({ endpoint: base })).to.equal(undefined);
    expect(targetOf({}, { [ENDPOINT]: base, [HEADERS]: "a=b" })).to.equal(undefined);
  });

  it("adds the path to a base address, with or without a slash at its end", () => {
    for (const endpoint of [base, `${base}/`]) {
      expect(targetOf({ traces: true, endpoint })).to.deep.equal({ url: `${base}/v1/traces`, headers: {} });
    }
    expect(targetOf({ traces: true, endpoint: `${base}/otlp` })?.url).to.equal(`${base}/otlp/v1/traces`);
  });

  it("reads the variables of OpenTelemetry", () => {
    const env = { [ENDPOINT]: base, [HEADERS]: "Authorization=Bearer%20a%3Db, X-Team = data,X-Empty=," };

    expect(targetOf({ traces: true, endpoint: "http://other", headers: { "X-Other": "1" } }, env)).to.deep.equal({
      url: `${base}/v1/traces`,
      headers: { Authorization: "Bearer a=b", "X-Team": "data", "X-Empty": "" },
    });
  });

  it("hides the headers, and the user and password of the endpoint", () => {
    const otel = { endpoint: "http://user:hunter2@collector:4318", headers: { "X-Key": "hunter2" } };
    const env = { SIGNALBOX_CONFIG_JSON: JSON.stringify({ otel }), [HEADERS]: "X-Key=hunter2" };

    const { config, written } = loadConfig(env);

    expect(JSON.stringify(redactConfig(config, written))).to.not.include("hunter2");
    expect(withoutOwnSecrets(env)).to.not.have.property(HEADERS);
  });

  const fault =
    (otel: object, env: Record<string, string> = {}) =>
    () =>
      targetOf(otel, env);
  for (const [title, otel, env, message] of [
    ["an address of traces", { endpoint: `${base}/v1/traces` }, {}, /remove \/v1\/traces/],
    ["another protocol", { endpoint: "grpc://127.0.0.1:4317" }, {}, /otel\.endpoint must look like/],
    ["a query", { endpoint: `${base}?key=1` }, {}, /otel\.endpoint must look like/],
    ["an invalid address", { endpoint: "http://[::" }, {}, /otel\.endpoint is not a valid URL/],
    ["a header with a line break", { headers: { "X-A": "a\nb" } }, {}, /otel\.headers\.X-A must have no line breaks/],
    [
      "a header of its own",
      { headers: { "Content-Type": "x" } },
      {},
      /otel\.headers\.Content-Type is set by Signalbox/,
    ],
    [
      "a password beside a header with one",
      { endpoint: "http://a:b@c", headers: { authorization: "x" } },
      {},
      /must have no user and password/,
    ],
    ["a variable without pairs", {}, { [HEADERS]: "a-token" }, /OTEL_EXPORTER_OTLP_HEADERS \(otel\.headers\)/],
    ["a variable with a broken escape", {}, { [HEADERS]: "a=%zz" }, /OTEL_EXPORTER_OTLP_HEADERS \(otel\.headers\)/],
  ] as const) {
    it(`refuses ${title}`, () => {
      expect(fault(otel, env)).to.throw(message);
    });
  }
});
