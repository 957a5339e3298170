import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import mongoose, { mongo, type Schema } from "mongoose";
import { SCHEMAS } from "../../../src/models/database.ts";

/** Returns how a document differs from its schema: in the fields, in their types, and in the values that mongoose would cast. */
export async function faultsOf(schema: Schema, document: object): Promise<string[]> {
  const name = Object.entries(SCHEMAS).find(([, one]) => (one as Schema) === schema)?.[0] ?? "documents";
  const Model = mongoose.models[name] ?? mongoose.model(name, schema, name);
  try {
    const read = new Model(document);
    const invalid = await read.validate().then(
      () => [],
      (error: Error) => [error.message],
    );
    const faults = [...missingFields(schema, document), ...invalid];
    return faults.length > 0 || isSame(read.toObject(), document) ? faults : ["has values of other types"];
  } catch (error) {
    return [String(error)]; // An unknown field, or a value that cannot be cast.
  }
}

/** Returns the fields that are absent though they are not optional, and those that are null though they are not nullable. */
function missingFields(schema: Schema, document: object, at = ""): string[] {
  return Object.entries(schema.paths).flatMap(([path, { options, schema: nested }]) => {
    const value = (document as Record<string, unknown>)[path];
    if (value === undefined) return options.isOptional ? [] : [`${at}${path} is missing`];
    if (value === null) return options.isNullable ? [] : [`${at}${path} is null`];
    if (!nested) return [];
    return [value].flat().flatMap((one) => missingFields(nested, one as object, `${at}${path}.`));
  });
}

/** Keys that mongoose drops. The service writes documents without it. */
const DROPPED: readonly unknown[] = ["__proto__", "constructor", "prototype"];

/** Returns whether mongoose has read the values that are stored. Names such as `__proto__` and `_bsontype` may be keys. */
function isSame(read: unknown, stored: unknown): boolean {
  if (Array.isArray(stored)) {
    return Array.isArray(read) && read.length === stored.length && stored.every((one, i) => isSame(read[i], one));
  }
  if (!isPlainObject(stored)) return isDeepStrictEqual(plain({ value: read }), plain({ value: stored }));
  if (!(read instanceof Map) && !isPlainObject(read)) return false;
  const values = new Map(read instanceof Map ? read : Object.entries(read));
  for (const name of DROPPED) values.delete(name);
  const entries = Object.entries(stored).filter(([name]) => !DROPPED.includes(name));
  return values.size === entries.length && entries.every(([key, value]) => isSame(values.get(key), value));
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** Returns a value as BSON stores it, so that wrappers of mongoose are gone. */
const plain = (document: object): object => mongo.BSON.deserialize(mongo.BSON.serialize(document));

/**
 * Checks that all documents of these collections have the fields and types of their schema, and no others.
 * @throws AssertionError that names the first documents that differ
 */
export async function expectDefinedDocuments(collections: readonly mongo.Collection[]): Promise<void> {
  const schemas: Record<string, unknown> = SCHEMAS;
  const lines: string[] = [];
  for (const collection of collections) {
    const { collectionName: name } = collection;
    if (!schemas[name]) continue;
    for await (const document of collection.find()) {
      const faults = await faultsOf(schemas[name] as Schema, document);
      if (faults.length > 0) lines.push(`${name} ${document._id}: ${faults.join(", ")}`);
    }
  }
  if (lines.length > 0) expect.fail(`documents differ from their schema:\n${lines.slice(0, 5).join("\n")}`);
}
