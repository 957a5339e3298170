import type { mongo } from "mongoose";
import { expectDefinedDocuments } from "../support/servers/storedDocuments.ts";

/** The BSON types of each path of a collection's documents, by collection. */
export type FieldTypes = Record<string, Record<string, string[]>>;

/** Paths of maps whose keys are values, such as step keys: `*` stands for each key. */
const MAPS = new Set(["jobs.steps", "jobFigures.durations"]);

/**
 * Adds the fields of all documents that a database holds now. A field that had another type before has both.
 * @throws AssertionError if a document differs from its definition
 */
export async function addFieldTypes(known: FieldTypes, db: mongo.Db): Promise<void> {
  await expectDefinedDocuments(await db.collections());
  for (const collection of await db.collections()) {
    const name = collection.collectionName;
    known[name] ??= {};
    // The driver keeps the types of numbers apart only where it does not promote them.
    const documents = collection.find({}, { promoteValues: false });
    for await (const document of documents) addFields(known[name], document, name);
  }
}

function addFields(known: Record<string, string[]>, value: object, path: string, field = ""): void {
  for (const [key, item] of Object.entries(value)) {
    const part = MAPS.has(path) ? "*" : key;
    addValue(known, item, `${path}.${part}`, field ? `${field}.${part}` : part);
  }
}

function addValue(known: Record<string, string[]>, value: unknown, path: string, field: string): void {
  const type = typeOf(value);
  known[field] = [...new Set([...(known[field] ?? []), type])].sort();
  if (type === "object") addFields(known, value as object, path, field);
  if (type === "array") for (const item of value as unknown[]) addValue(known, item, `${path}[]`, `${field}[]`);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof Date) return "date";
  if (typeof value !== "object") return typeof value;
  return (value as { readonly _bsontype?: string })._bsontype ?? "object";
}
