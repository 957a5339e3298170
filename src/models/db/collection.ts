import { mongo } from "mongoose";
import Type, { type Static, type TObject, type TProperties, type TSchema } from "typebox";

/**
 * A collection: the schema of its documents, from which their static type is inferred, and its indexes. Reads and writes go
 * through the driver unvalidated, because routes have validated the input. Tests validate the stored documents.
 */
export interface CollectionDefinition<T extends TObject> {
  readonly document: T;
  readonly indexes: readonly Index<Static<T>>[];
}

/** A field of a document, or a path that begins with one. */
type Path<D> = (keyof D & string) | `${keyof D & string}.${string}`;

interface Index<D> {
  readonly keys: Partial<Record<Path<D>, 1 | -1>>;
  readonly unique?: true;
  /** How long after the indexed time MongoDB deletes the document. */
  readonly expireAfterSeconds?: number;
  /** Restricts the index to the documents that match. */
  readonly partialFilterExpression?: Partial<Record<Path<D>, unknown>>;
}

export const defineCollection = <T extends TObject>(
  document: T,
  indexes: readonly Index<Static<T>>[] = [],
): CollectionDefinition<T> => ({ document, indexes });

/** An object without fields other than those given. */
export const closedObject = <P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const instanceOf = <T>(type: abstract new (...args: never[]) => T) =>
  Type.Refine(Type.Unsafe<T>({}), (value) => value instanceof type);

export const BsonDate = instanceOf(Date);
export const BsonBinary = instanceOf(mongo.Binary);
export const BsonObjectId = instanceOf(mongo.ObjectId);
export const BsonTimestamp = instanceOf(mongo.Timestamp);
