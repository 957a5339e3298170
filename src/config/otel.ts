import Type, { type Static } from "typebox";
import { trimSlashes } from "../shared/address.ts";
import { type Check, type Frozen, section, text, textMap } from "./nodes.ts";
import { headerFault } from "./outbound.ts";

/** The section `otel`. */
export const OtelSchema = section(
  {
    traces: Type.Boolean({
      default: false,
      description:
        "Whether a trace of each run of a job and of each agent run is sent when it ends. Nothing is sent without an endpoint.",
    }),
    endpoint: Type.Optional(
      text({
        env: "OTEL_EXPORTER_OTLP_ENDPOINT",
        pattern: "^https?://[^?#\\s]+$",
        maxLength: 2_000,
        secret: "credentials",
        examples: ["http://localhost:4318"],
        description:
          "Base address of a receiver of OTLP over HTTP, such as an OpenTelemetry collector. Traces go to `/v1/traces` below it.",
      }),
    ),
    headers: Type.Optional(
      textMap({
        env: "OTEL_EXPORTER_OTLP_HEADERS",
        secret: true,
        examples: [{ Authorization: "Bearer the-token-of-the-receiver" }],
        description:
          "Headers that are added to each request. In the environment variable as `name=value`, separated by commas and percent-encoded.",
      }),
    ),
  },
  "Traces of jobs and agent runs for OpenTelemetry. Off unless `traces` is true and there is an endpoint, so that an endpoint in the environment alone starts nothing.",
);

type Otel = Frozen<Static<typeof OtelSchema>>;

/** The receiver of traces. */
export interface TraceTarget {
  /** The address of its traces. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns where traces are sent; undefined while they are off. */
export const traceTarget = ({ traces, endpoint, headers = {} }: Otel): TraceTarget | undefined =>
  traces && endpoint !== undefined ? { url: `${trimSlashes(endpoint)}/v1/traces`, headers } : undefined;

export const otelChecks: readonly Check<{ readonly otel: Otel }>[] = [{ reads: ["otel"], find: otelFaults }];

function otelFaults({ otel: { endpoint, headers = {} } }: { readonly otel: Otel }): (string | false)[] {
  const names = Object.keys(headers);
  const url = URL.parse(endpoint ?? "http://localhost");
  return [
    !url && "otel.endpoint is not a valid URL",
    /\/v1\/traces\/*$/.test(url?.pathname ?? "") &&
      "otel.endpoint must be the base address of the receiver: remove /v1/traces, which is added to it",
    url !== null &&
      url.username + url.password !== "" &&
      names.some((name) => name.toLowerCase() === "authorization") &&
      "otel.endpoint must have no user and password beside otel.headers.Authorization: remove one of them",
    ...Object.entries(headers).map(([name, value]) => headerFault("otel.headers", name, value)),
  ];
}
