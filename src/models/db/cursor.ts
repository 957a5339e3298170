import { mongo } from "mongoose";

/** A place in a list that is ordered by creation: the last row that the reader has. */
export interface Position {
  readonly createdAt: Date;
  readonly _id: mongo.ObjectId;
}

/** What a cursor looks like: the time of creation in milliseconds, base 36, and the internal id. */
export const CURSOR_PATTERN = "^[0-9a-z]{1,10}-[0-9a-f]{24}$";

/** The text that a client sends back as `?cursor=`; it means nothing outside. */
export function encodeCursor({ createdAt, _id }: Position): string {
  return `${createdAt.getTime().toString(36)}-${_id.toHexString()}`;
}

/** The text must match CURSOR_PATTERN. */
export function decodeCursor(cursor: string): Position {
  const [time = "", id = ""] = cursor.split("-");
  return { createdAt: new Date(Number.parseInt(time, 36)), _id: new mongo.ObjectId(id) };
}
