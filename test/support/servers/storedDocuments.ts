import { expect } from "chai";
import { mongo } from "mongoose";
import { Compile } from "typebox/compile";
import { COLLECTIONS } from "../../../src/models/db/database.ts";

const validators = Object.entries(COLLECTIONS).map(
  ([name, { document }]) => [name, Compile<Record<string, never>, typeof document>({}, document)] as const,
);

/**
 * Checks that all documents of a database have the fields and types of their definition, and no others. A database whose server
 * has stopped passes.
 * @throws AssertionError that names the first documents that differ
 */
export async function expectDefinedDocuments(db: mongo.Db): Promise<void> {
  const differing = await Promise.all(
    validators.map(async ([name, validator]) => {
      const documents = await db.collection(name).find().toArray();
      return documents.flatMap((document) => {
        if (validator.Check(document)) return [];
        const errors = validator.Errors(document).map(({ instancePath, message }) => `${instancePath} ${message}`);
        return `${name} ${document._id}: ${errors.join(", ")}`;
      });
    }),
  ).catch(ifStopped);
  const lines = differing.flat();
  if (lines.length > 0) expect.fail(`documents differ from their definition:\n${lines.slice(0, 5).join("\n")}`);
}

function ifStopped(error: unknown): [] {
  if (error instanceof mongo.MongoServerSelectionError) return [];
  throw error;
}
