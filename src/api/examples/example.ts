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
