import Type from "typebox";
import type { WantedNotifications } from "../models/notes/wantedNotifications.ts";
import { cleanTraceparent, TRACEPARENT } from "../shared/traceContext.ts";

/** The header by which a request is a part of a trace. An invalid one is ignored, as W3C Trace Context says. */
export const traceHeader = {
  [TRACEPARENT]: Type.Optional(
    Type.String({
      description:
        "The trace of the caller, as W3C Trace Context states it. The trace of what the request creates links to it, and is left out if its `sampled` flag is not set.",
    }),
  ),
};

/** Returns the `traceparent` to keep of a request: empty without a valid one, and while no traces are sent. */
export function keptTraceparent(
  { jobs }: { readonly jobs: { readonly wanted: WantedNotifications } },
  headers: Readonly<Record<string, string | string[] | undefined>>,
): { readonly traceparent?: string } {
  const traceparent = jobs.wanted.traces ? cleanTraceparent(headers[TRACEPARENT]) : undefined;
  return traceparent === undefined ? {} : { traceparent };
}
