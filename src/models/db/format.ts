import type { mongo } from "mongoose";
import { StartError } from "../../shared/process/lifecycle.ts";
import { ownCommand } from "../../shared/process/ownCommands.ts";

/**
 * The format of stored documents and of backups. A change that documents of the present format do not fit takes the next number,
 * and `release` then migrates them.
 */
export const FORMAT = 1;

interface FormatDoc {
  readonly _id: "format";
  readonly format: number;
}

/** The collection that stores the format. It is not among the collections of records, so that backups and deletions leave it out. */
const collectionOf = (db: mongo.Db) => db.collection<FormatDoc>("format");

/** A collection of development versions, which stored no format. Its documents cannot be read. */
const UNREADABLE = "steps";

/**
 * Checks that documents of another format are not stored.
 * @returns whether the format of this version is stored
 * @throws StartError if another one is
 */
export async function checkFormat(db: mongo.Db): Promise<boolean> {
  const stored = await collectionOf(db).findOne({ _id: "format" });
  const hasSteps = !stored && (await db.listCollections({ name: UNREADABLE }, { nameOnly: true }).hasNext());
  if (hasSteps || (stored && stored.format !== FORMAT)) {
    const found = stored ? `format ${stored.format}` : "a format of a development version";
    throw new StartError(
      `The database ${JSON.stringify(db.databaseName)} holds documents in ${found}, and this version reads format ${FORMAT} only. Nothing was changed. Start the version that wrote them, or set MONGODB_URI to an empty database and run \`${ownCommand("release")}\`.`,
    );
  }
  return stored !== null;
}

/** Stores that documents have the format of this version. */
export async function storeFormat(db: mongo.Db): Promise<void> {
  await collectionOf(db).updateOne({ _id: "format" }, { $setOnInsert: { format: FORMAT } }, { upsert: true });
}
