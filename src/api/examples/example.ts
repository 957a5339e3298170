import { IsNull, IsUnion, type Static, type TObject } from "typebox";

/**
 * An example of one operation for openapi.json: the request, and a response for each status. A test checks the values
 * against the schemas of the route.
 */
export interface Example {
  /** The values of the identifiers in the path. */
  readonly params?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  /** The body of a route with `textBody`. */
  readonly text?: string;
  /** The same by media type, where there is a choice: of the body, and of the response. */
  readonly otherTexts?: Readonly<Record<string, string>>;
  /** The bodies by status. That of a stream is one event; that of a response in plain text is a string. */
  readonly answers: Readonly<Record<number, unknown>>;
}

/** Adds null to an example for each field that it leaves out and that may be null. */
export function withNulls<S extends TObject, T extends object>(schema: S, example: T): Omit<Static<S>, keyof T> & T {
  const missing = schema.required.filter((field) => {
    const type = schema.properties[field];
    return !(field in example) && IsUnion(type) && type.anyOf.some(IsNull);
  });
  const nulls = Object.fromEntries(missing.map((field) => [field, null])) as Omit<Static<S>, keyof T>;
  return { ...nulls, ...example };
}
