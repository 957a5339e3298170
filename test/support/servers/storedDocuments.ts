import { expect } from "chai";
import type { mongo } from "mongoose";
import { Compile } from "typebox/compile";
import { COLLECTIONS } from "../../../src/models/db/database.ts";

const validators = new Map(
  Object.entries(COLLECTIONS).map(([name, { document }]) => [
    name,
    Compile<Record<string, never>, typeof document>({}, document),
  ]),
);

/**
 * Checks that all documents of these collections have the fields and types of their definition, and no others.
 * @throws AssertionError that names the first documents that differ
 */
export async function expectDefinedDocuments(collections: readonly mongo.Collection[]): Promise<void> {
  const lines: string[] = [];
  for (const collection of collections) {
    const validator = validators.get(collection.collectionName);
    for await (const document of collection.find()) {
      if (!validator || validator.Check(document)) continue;
      const errors = validator.Errors(document).map(({ instancePath, message }) => `${instancePath} ${message}`);
      lines.push(`${collection.collectionName} ${document._id}: ${errors.join(", ")}`);
    }
  }
  if (lines.length > 0) expect.fail(`documents differ from their definition:\n${lines.slice(0, 5).join("\n")}`);
}
