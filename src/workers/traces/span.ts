import type { TraceContext } from "../../shared/traceContext.ts";

/*
 * Spans in the JSON form of OTLP 1: names in lowerCamelCase, ids in hexadecimal digits, enumerations as numbers, and numbers of 64
 * bits as texts. Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */

export const INTERNAL = 1;
export const SERVER = 2;
type Kind = typeof INTERNAL | typeof SERVER;

/** The code of the status of a span that failed. */
const ERROR = 2;
/** Flags of a span: those of its trace, and whether its parent, or what it links to, is in another process. */
const SAMPLED = 0x01;
const KNOWS_REMOTE = 0x1_00;
const IS_REMOTE = 0x2_00;

/** The values of attributes by their names; undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanFields {
  readonly traceId: string;
  readonly spanId: string;
  /** Missing for the root of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: Kind;
  readonly start: Date;
  readonly end: Date;
  readonly attributes: Attributes;
  readonly isFailed: boolean;
  /** The span that caused it. */
  readonly link?: TraceContext | undefined;
}

/** Returns a span as JSON. */
export function spanJson({
  traceId,
  spanId,
  parentSpanId,
  name,
  kind,
  start,
  end,
  attributes,
  isFailed,
  link,
}: SpanFields): string {
  return JSON.stringify({
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    flags: SAMPLED | KNOWS_REMOTE,
    name: name.toWellFormed(),
    kind,
    startTimeUnixNano: nanos(start),
    endTimeUnixNano: nanos(end < start ? start : end),
    attributes: attributeList(attributes),
    ...(link && { links: [linkTo(link)] }),
    ...(isFailed && { status: { code: ERROR } }),
  });
}

/** Returns attributes in the form of OTLP. */
export const attributeList = (attributes: Attributes): object[] =>
  Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [
      { key, value: typeof value === "string" ? { stringValue: value.toWellFormed() } : { intValue: String(value) } },
    ];
  });

const linkTo = ({ traceId, spanId, isSampled }: TraceContext): object => ({
  traceId,
  spanId,
  flags: (isSampled ? SAMPLED : 0) | KNOWS_REMOTE | IS_REMOTE,
});

const nanos = (time: Date): string => `${time.getTime()}000000`;
