import { mongo } from "mongoose";
import { AppError } from "../shared/errors.ts";

/** A place in a list that is ordered by creation: the last row that the reader has. */
export interface Position {
  readonly createdAt: Date;
  readonly _id: mongo.ObjectId;
}

/** The text that a client sends back as `?cursor=`; it means nothing outside. */
export function encodeCursor({ createdAt, _id }: Position): string {
  return Buffer.from(`${createdAt.getTime().toString(36)}.${_id.toHexString()}`).toString("base64url");
}

/** @throws AppError invalid_query when the text is none of ours */
export function decodeCursor(cursor: string): Position {
  const match = /^(-?[0-9a-z]{1,12})\.([0-9a-f]{24})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"));
  const createdAt = new Date(Number.parseInt(match?.[1] ?? "", 36));
  if (!match || Number.isNaN(createdAt.getTime())) {
    const detail = "is not a cursor of this list: send the nextCursor of the page before, as it is";
    throw new AppError("invalid_query", { detail: `cursor ${detail}.`, errors: [{ parameter: "cursor", detail }] });
  }
  return { createdAt, _id: new mongo.ObjectId(match[2]) };
}
