import type { mongo } from "mongoose";

interface Position {
  readonly createdAt: Date;
  readonly _id: string;
}

/** The format of a cursor of runs, deliveries or sessions: the time in milliseconds in base 36, and the id. */
export const ID_CURSOR_PATTERN = "^[0-9a-z]{1,10}-[ -~]{1,600}$";

/** Returns the cursor of the page after a row. */
export const idCursor = ({ createdAt, _id }: Position): string => `${createdAt.getTime().toString(36)}-${_id}`;

/**
 * Returns the query for the rows after a cursor, newest first.
 * @param cursor must match ID_CURSOR_PATTERN
 * @param by the time by which the list is ordered
 */
export function olderThan<T>(cursor: string, by: keyof T & string = "createdAt" as keyof T & string): mongo.Filter<T> {
  const at = cursor.indexOf("-");
  const time = new Date(Number.parseInt(cursor.slice(0, at), 36));
  const older = {
    [by]: { $lte: time },
    $or: [{ [by]: { $lt: time } }, { _id: { $lt: cursor.slice(at + 1) } }],
  };
  return older as unknown as mongo.Filter<T>;
}
