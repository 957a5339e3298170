import { isObject } from "../../shared/text/json.ts";

/** The headers of the binary mode, of which the attributes of an event are made. */
export const CLOUD_EVENT_HEADERS = ["id", "source", "type", "subject", "time", "specversion", "dataschema"].map(
  (name) => `ce-${name}`,
);

/** A version at the end of a type, such as in `job.finished.v1` or `dev.cdevents.pipelinerun.finished.0.2.0`. */
const VERSION = /([._-]v?\d+)+$/i;
const WORD = /[A-Z]?[a-z]+|[A-Z]+/g;

/**
 * Returns an event in its structured form, whichever mode it was sent in, with the last word of its type as `status`.
 * Source: https://github.com/cloudevents/spec/blob/main/cloudevents/bindings/http-protocol-binding.md
 */
export function cloudEvent({
  headers,
  payload,
}: {
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly payload: unknown;
}): Readonly<Record<string, unknown>> {
  const isBinary = typeof headers["ce-type"] === "string";
  const attributes = Object.fromEntries(
    CLOUD_EVENT_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name.slice(3), decoded(value)]] : [];
    }),
  );
  const event = isBinary ? { ...attributes, data: payload } : isObject(payload) ? payload : {};
  const { type } = event as { readonly type?: unknown };
  return { ...event, ...(typeof type === "string" && { status: lastWord(type) }) };
}

/** Decodes the value of a header, in which characters beyond ASCII are percent-encoded. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

const lastWord = (type: string): string | undefined => type.replace(VERSION, "").match(WORD)?.at(-1)?.toLowerCase();
