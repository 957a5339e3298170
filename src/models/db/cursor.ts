import { mongo } from "mongoose";

/** A position in a list that is ordered by creation: that of the last row of a page. */
export interface Position {
  readonly createdAt: Date;
  readonly _id: mongo.ObjectId;
}

/** The format of a cursor: the time of creation in milliseconds in base 36, and the internal id. */
export const CURSOR_PATTERN = "^[0-9a-z]{1,10}-[0-9a-f]{24}$";

/** Returns the cursor of a position, which clients send back as `?cursor=` and treat as opaque. */
export function encodeCursor({ createdAt, _id }: Position): string {
  return `${createdAt.getTime().toString(36)}-${_id.toHexString()}`;
}

/** Returns the position of a cursor, which must match CURSOR_PATTERN. */
export function decodeCursor(cursor: string): Position {
  const [time = "", id = ""] = cursor.split("-");
  return { createdAt: new Date(Number.parseInt(time, 36)), _id: new mongo.ObjectId(id) };
}
