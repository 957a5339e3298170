import { hash } from "node:crypto";

/** The place of a span in its trace, and whether the trace is recorded: W3C Trace Context, https://www.w3.org/TR/trace-context/ */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** The header, in lower case. */
export const TRACEPARENT = "traceparent";

/** Version, trace, span and flags. Only later versions than 00 may have more behind them; ff is no version. */
const PATTERN = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Reads a `traceparent` header; undefined for a missing or an invalid one, which the standard says to ignore. */
export function readTraceparent(header: string | string[] | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags = "", more] = PATTERN.exec(String(header ?? "")) ?? [];
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Returns a valid `traceparent` header as version 00; undefined for any other. */
export function cleanTraceparent(header: string | string[] | undefined): string | undefined {
  const context = readTraceparent(header);
  return context && traceparentOf(context);
}

/** Returns the header for a place in a trace. */
export const traceparentOf = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

/**
 * Returns the context of a trace of its own, which is always the same for the same parts.
 * @param given the `traceparent` of the request that caused it, whose flag counts
 */
export function ownTrace(parts: readonly unknown[], given: string | undefined): TraceContext {
  const digits = hash("sha256", JSON.stringify(parts));
  const isSampled = readTraceparent(given)?.isSampled ?? true;
  return { traceId: digits.slice(0, 32), spanId: digits.slice(32, 48), isSampled };
}

/** Returns the id of a span below the root of a trace, which is always the same for the same parts. */
export const childSpanId = (traceId: string, ...parts: readonly unknown[]): string =>
  hash("sha256", JSON.stringify([traceId, ...parts])).slice(0, 16);
