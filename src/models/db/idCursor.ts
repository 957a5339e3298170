import type { mongo } from "mongoose";

interface Position {
  readonly createdAt: Date;
  readonly _id: string;
}

/** What a cursor of a list of runs or deliveries looks like: the time in milliseconds, base 36, and the id. */
export const ID_CURSOR_PATTERN = "^[0-9a-z]{1,10}-[ -~]{1,600}$";

/** Where the page behind a row begins, newest first. */
export const idCursor = ({ createdAt, _id }: Position): string => `${createdAt.getTime().toString(36)}-${_id}`;

/** What comes behind a cursor that fits the pattern. @param by what the list is ordered by */
export function olderThan<T>(cursor: string, by: keyof T & string = "createdAt" as keyof T & string): mongo.Filter<T> {
  const at = cursor.indexOf("-");
  const time = new Date(Number.parseInt(cursor.slice(0, at), 36));
  const older = {
    [by]: { $lte: time },
    $or: [{ [by]: { $lt: time } }, { _id: { $lt: cursor.slice(at + 1) } }],
  };
  return older as unknown as mongo.Filter<T>;
}
