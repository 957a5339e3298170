import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import mongoose, { mongo, type Schema } from "mongoose";
import { SCHEMAS } from "../../../src/models/db/database.ts";

/** Returns how a document differs from its schema: in the fields, in their types, and in the values that mongoose would cast. */
export function faultsOf(schema: Schema, document: object): string[] {
  const name = Object.entries(SCHEMAS).find(([, one]) => (one as Schema) === schema)?.[0] ?? "documents";
  const Model = mongoose.models[name] ?? mongoose.model(name, schema, name);
  try {
    const read = new Model(document);
    const errors: Record<string, Error> = read.validateSync()?.errors ?? {};
    const invalid = Object.values(errors).map(({ message }) => message);
    const faults = [...missingFields(schema, document), ...invalid];
    const isSame = isDeepStrictEqual(plain(read.toObject({ flattenMaps: true })), plain(document));
    return faults.length > 0 || isSame ? faults : ["has values of other types"];
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

/** Returns a value as BSON stores it, so that wrappers of mongoose are gone. */
const plain = (document: object): object => mongo.BSON.deserialize(mongo.BSON.serialize(document));

/**
 * Checks that all documents of a database have the fields and types of their schema, and no others. A database whose server has
 * stopped passes.
 * @throws AssertionError that names the first documents that differ
 */
export async function expectDefinedDocuments(db: mongo.Db): Promise<void> {
  const differing = await Promise.all(
    Object.entries(SCHEMAS).map(async ([name, schema]) => {
      const documents = await db.collection(name).find({}, { promoteValues: true }).toArray();
      return documents.flatMap((document) => {
        const faults = faultsOf(schema as Schema, document);
        return faults.length > 0 ? [`${name} ${document._id}: ${faults.join(", ")}`] : [];
      });
    }),
  ).catch(ifStopped);
  const lines = differing.flat();
  if (lines.length > 0) expect.fail(`documents differ from their schema:\n${lines.slice(0, 5).join("\n")}`);
}

function ifStopped(error: unknown): [] {
  if (error instanceof mongo.MongoServerSelectionError) return [];
  throw error;
}
