import Type, { type TSchema } from "typebox";
import { CURSOR_PATTERN } from "../../models/db/cursor.ts";
import { ID_CURSOR_PATTERN } from "../../models/db/idCursor.ts";

/** Parts of requests that several routes accept, and the response without a body. */

/** The last part of a ping's path: how the program ended, or its progress. */
export const PING_STATE_PATTERN = "^(done|fail|[1-9]?[0-9](\\.[0-9]{1,15})?)$";

/** The schema of a response without a body. */
export const NoContent = Type.Unsafe<undefined>({ not: {} });

/** The options of an object without other fields. */
export const closed = { additionalProperties: false } as const;

/** A filter by one or several values of a field. */
export const anyOf = <T extends TSchema>(value: T, description: string) =>
  Type.Optional(Type.Array(value, { minItems: 1, description: `${description} Repeat the parameter for several.` }));

export const cursor = (pattern: string) =>
  Type.Optional(Type.String({ pattern, description: "The `nextCursor` of the previous page." }));

export const paging = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: "Maximum number of rows in the page." }),
  ),
  cursor: cursor(CURSOR_PATTERN),
};

/** Paging of lists whose cursors contain an id. */
export const idPaging = { limit: paging.limit, cursor: cursor(ID_CURSOR_PATTERN) };
