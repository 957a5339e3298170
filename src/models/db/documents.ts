import type { Connection, Model, mongo, Schema } from "mongoose";
import { readFromCaughtUpPrimary } from "./caughtUpPrimary.ts";
import { mapMongoErrors } from "./mongoErrors.ts";
import { retryUpsert } from "./retry.ts";

type Filter<T> = mongo.Filter<T>;
type Update<T> = mongo.UpdateFilter<T> | mongo.Document[];
type New<T> = mongo.OptionalUnlessRequiredId<T>;

/** How a read is narrowed. Reads of a primary return only writes that a majority has acknowledged. */
type ReadOptions = Pick<mongo.FindOptions, "projection" | "sort" | "skip" | "limit" | "hint" | "maxTimeMS">;
type StreamOptions = ReadOptions & { readonly batchSize?: number };
type UpdateOptions = Pick<mongo.UpdateOptions, "upsert" | "arrayFilters" | "hint">;
type FindAndUpdateOptions = Pick<
  mongo.FindOneAndUpdateOptions,
  "upsert" | "returnDocument" | "projection" | "sort" | "hint"
>;

/**
 * The documents of one collection, through its mongoose model. Every call maps the driver's errors, every read waits for a
 * primary that has caught up, and documents are plain objects. Input is not validated here: routes have validated it.
 * Finds, inserts and updates go to the driver: mongoose has nothing to cast in them, a find through it takes the process a fifth
 * longer and an insert half as long again, and it would copy pipelines without keys such as `constructor`.
 *
 * Every method throws AppError unavailable while MongoDB cannot be reached, and so does every function of src/models that uses
 * one. It throws AppError body_too_large for a document that would exceed MongoDB's limit. Other errors of the driver are thrown
 * unchanged.
 */
export class Documents<T extends mongo.Document> {
  /** The driver's collection. Its reads do not wait, and its errors are the driver's. */
  readonly native: mongo.Collection<T>;
  readonly #connection: Connection;
  readonly #schema: Schema<T>;
  #model: Model<T> | undefined;

  /** @param connection an open connection */
  constructor(connection: Connection, name: string, schema: Schema<T>) {
    const { db } = connection;
    if (!db) throw new Error("the connection is not open");
    this.#connection = connection;
    this.#schema = schema;
    this.native = db.collection(name);
  }

  /** The model, which is compiled when it is needed: most connections use few of them. */
  get model(): Model<T> {
    this.#model ??= this.#connection.model(this.name, this.#schema, this.name) as unknown as Model<T>;
    return this.#model;
  }

  get name(): string {
    return this.native.collectionName;
  }

  /** Runs several reads as one: all of them are repeated if another primary was elected meanwhile. */
  read<R>(read: () => Promise<R>): Promise<R> {
    return readFromCaughtUpPrimary(this.native, read);
  }

  findOne<R extends mongo.Document = mongo.WithId<T>>(filter: Filter<T>, options: ReadOptions = {}): Promise<R | null> {
    return this.read(() => this.native.findOne<R>(filter, options));
  }

  /** Reads all documents that match. Only for queries whose result fits into memory. */
  find<R extends mongo.Document = mongo.WithId<T>>(filter: Filter<T>, options: ReadOptions = {}): Promise<R[]> {
    return this.read(() => this.native.find<R>(filter, options).toArray());
  }

  async exists(filter: Filter<T>): Promise<boolean> {
    return (await this.findOne(filter, { projection: { _id: 1 } })) !== null;
  }

  countDocuments(
    filter: Filter<T>,
    options: Pick<mongo.CountDocumentsOptions, "hint" | "limit"> = {},
  ): Promise<number> {
    return this.read(() => this.model.countDocuments(filter as never, options as never).exec());
  }

  distinct<K extends keyof T & string>(field: K, filter: Filter<T>): Promise<Exclude<T[K], undefined>[]> {
    return this.read(() => this.model.distinct(field, filter as never).exec()) as never;
  }

  aggregate<R extends mongo.Document>(stages: mongo.Document[], options: mongo.AggregateOptions = {}): Promise<R[]> {
    return this.read(() => this.model.aggregate<R>(stages as never, options as never).exec());
  }

  /** Yields the documents that match, as they are at the time that each batch is read. */
  stream<R extends mongo.Document = mongo.WithId<T>>(
    filter: Filter<T>,
    options: StreamOptions = {},
  ): AsyncGenerator<R, void> {
    return read(() => this.native.find<R>(filter, options));
  }

  aggregateStream<R extends mongo.Document>(
    stages: mongo.Document[],
    options: mongo.AggregateOptions = {},
  ): AsyncGenerator<R, void> {
    return read(() => this.native.aggregate<R>(stages, options));
  }

  /** Yields the documents that match in batches. @param size maximum documents of a batch */
  async *inBatches<R extends mongo.Document = mongo.WithId<T>>(
    size: number,
    filter: Filter<T>,
    options: ReadOptions = {},
  ): AsyncGenerator<R[], void> {
    let batch: R[] = [];
    for await (const document of this.stream<R>(filter, { ...options, batchSize: size })) {
      batch.push(document);
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  async insertOne(document: New<T>): Promise<void> {
    await this.insertMany([document]);
  }

  /** Inserts documents; with `ordered: false` all that can be inserted. */
  async insertMany(documents: readonly New<T>[], { ordered = true } = {}): Promise<void> {
    if (documents.length === 0) return;
    await mapMongoErrors(() => this.native.insertMany(documents, { ordered }));
  }

  updateOne(filter: Filter<T>, update: Update<T>, options: UpdateOptions = {}): Promise<mongo.UpdateResult> {
    return mapMongoErrors(() => this.native.updateOne(filter, update, options));
  }

  updateMany(filter: Filter<T>, update: Update<T>, options: UpdateOptions = {}): Promise<mongo.UpdateResult> {
    return mapMongoErrors(() => this.native.updateMany(filter, update, options));
  }

  /** Updates a document, and returns it as it was before the update, or with `returnDocument: "after"` as it is now. */
  findOneAndUpdate<R extends mongo.Document = mongo.WithId<T>>(
    filter: Filter<T>,
    update: Update<T>,
    options: FindAndUpdateOptions = {},
  ): Promise<R | null> {
    return mapMongoErrors(() => this.native.findOneAndUpdate(filter, update, options)) as Promise<R | null>;
  }

  /**
   * Updates a document or creates it, again if a concurrent call created it first.
   * @param filter names the document by a unique key, and nothing else
   * @returns the document after it, and whether it is new
   */
  async upsertOne<R extends mongo.Document = mongo.WithId<T>>(
    filter: Filter<T>,
    update: Update<T>,
    options: Pick<FindAndUpdateOptions, "projection"> = {},
  ): Promise<{ document: R; created: boolean }> {
    const all = { ...options, upsert: true, returnDocument: "after", includeResultMetadata: true } as const;
    const { value, lastErrorObject } = await retryUpsert(() =>
      mapMongoErrors(() => this.native.findOneAndUpdate(filter, update, all)),
    );
    if (!value) throw new Error("an upsert returned no document");
    return { document: value as unknown as R, created: lastErrorObject?.updatedExisting === false };
  }

  /** Replaces a document or creates it. @param filter names the document by a unique key, and nothing else */
  async replaceOne(filter: Filter<T>, document: mongo.WithoutId<T>): Promise<void> {
    await retryUpsert(() => mapMongoErrors(() => this.native.replaceOne(filter, document, { upsert: true })));
  }

  /** Sends several writes in one command. */
  bulkWrite(
    writes: mongo.AnyBulkWriteOperation<T>[],
    options: { ordered?: boolean } = {},
  ): Promise<mongo.BulkWriteResult> {
    return mapMongoErrors(() => this.native.bulkWrite(writes, options));
  }

  deleteOne(filter: Filter<T>): Promise<mongo.DeleteResult> {
    return mapMongoErrors(() => this.model.deleteOne(filter as never).exec());
  }

  deleteMany(filter: Filter<T>): Promise<mongo.DeleteResult> {
    return mapMongoErrors(() => this.model.deleteMany(filter as never).exec());
  }
}

/** Opens a cursor, yields its documents, maps its errors and closes it. */
async function* read<R>(open: () => mongo.AbstractCursor<R>): AsyncGenerator<R, void> {
  const cursor = open();
  try {
    for (;;) {
      const document = await mapMongoErrors(() => cursor.next());
      if (document === null) return;
      yield document;
    }
  } finally {
    await cursor.close();
  }
}
