/**
 * A backup is a stream of BSON documents (https://bsonspec.org): a `BackupHeader`, one `BackupRecord` for each stored document,
 * and a `BackupEnd`, without which the backup is incomplete.
 */
import { mongo } from "mongoose";
import { StartError } from "../shared/process/lifecycle.ts";
import type { AllDocuments, Database } from "./database.ts";
import type { Documents } from "./db/documents.ts";
import { FORMAT } from "./db/format.ts";
import { insertAll } from "./db/insertAll.ts";
import { isStored } from "./jobs/payloads/payloads.ts";

const { BSON } = mongo;

interface BackupHeader {
  /** The format of the documents. */
  readonly signalboxBackup: number;
  /** The version of Signalbox that wrote it. */
  readonly version: string;
  readonly createdAt: Date;
}

interface BackupRecord {
  readonly collection: keyof AllDocuments;
  readonly document: mongo.Document;
}

/** The number of stored documents in each collection. */
export type Counts = Readonly<Record<string, number>>;

interface BackupEnd {
  readonly counts: Counts;
}

/** Documents that are read together with the documents that they refer to. */
const BATCH = 100;
/** Maximum reads of a document whose references change while it is read: after the first, it is read alone to be quick. */
const MAX_READS = 200;
/** Maximum size of a command that inserts documents. */
const MAX_INSERT_BYTES = 8 * 1024 * 1024;
/** A record cannot be larger: a stored document has at most 16 MiB. */
const MAX_RECORD_BYTES = 17 * 1024 * 1024;

/** Leases protect work that is under way, which a restored database has none of. */
const LEFT_OUT: readonly string[] = ["leases"];

/** Collections whose documents are written only beside a document that refers to them. */
const REFERENCES = {
  jobs: { collection: "payloads", idsIn: payloadIds },
  runs: { collection: "hookCalls", idsIn: ({ mapped }: mongo.Document) => [mapped?.item?.call].filter(Boolean) },
} as const;

function payloadIds({ input, metadata, output, steps }: mongo.Document): mongo.ObjectId[] {
  const outputs = Object.values((steps ?? {}) as Record<string, mongo.Document>).map((step) => step.output);
  return [input, metadata, output, ...outputs].filter(isStored).map(({ payload }) => payload);
}

/**
 * Reads all stored documents while processes go on writing. Each document is read whole, together with the payloads and
 * requests that it refers to; documents that are written meanwhile may be missing.
 * @yields the bytes of the backup
 * @throws the error of the driver
 */
export async function* readBackup({ documents }: Database, version: string): AsyncGenerator<Uint8Array, Counts> {
  const header: BackupHeader = { signalboxBackup: FORMAT, version, createdAt: new Date() };
  yield BSON.serialize(header);
  const counts: Record<string, number> = {};
  const record = (collection: keyof AllDocuments, document: mongo.Document) => {
    counts[collection] = (counts[collection] ?? 0) + 1;
    return BSON.serialize({ collection, document } satisfies BackupRecord);
  };
  const referenced: readonly string[] = Object.values(REFERENCES).map(({ collection }) => collection);
  for (const name of Object.keys(documents) as (keyof AllDocuments)[]) {
    if (LEFT_OUT.includes(name) || referenced.includes(name)) continue;
    for await (const batch of anyOf(documents, name).inBatches(BATCH, {}, { sort: { _id: 1 } })) {
      if (name === "jobs" || name === "runs") yield* withReferences(documents, name, batch, record);
      else for (const document of batch) yield record(name, document);
    }
  }
  const end: BackupEnd = { counts };
  yield BSON.serialize(end);
  return counts;
}

/** Yields the records of documents, each after those that it refers to. */
async function* withReferences(
  documents: AllDocuments,
  name: keyof typeof REFERENCES,
  batch: readonly mongo.Document[],
  record: (name: keyof AllDocuments, document: mongo.Document) => Uint8Array,
): AsyncGenerator<Uint8Array> {
  const { collection: target, idsIn } = REFERENCES[name];
  const stored = anyOf(documents, target);
  const written = new Set<string>();
  async function* referencesOf(read: readonly mongo.Document[]) {
    const ids = read.flatMap((document) => idsIn(document)).filter((id) => !written.has(String(id)));
    if (ids.length === 0) return;
    for await (const document of stored.stream({ _id: { $in: ids } })) {
      written.add(String(document._id));
      yield record(target, document);
    }
  }
  const isComplete = (document: mongo.Document) => idsIn(document).every((id) => written.has(String(id)));
  yield* referencesOf(batch);
  for (const document of batch) {
    let latest: mongo.Document | undefined = document;
    // A document that keeps changing is written as it is: it misses what was replaced in the moment of the backup.
    for (let reads = 1; latest !== undefined && !isComplete(latest) && reads < MAX_READS; reads++) {
      [latest] = await anyOf(documents, name).find({ _id: document._id });
      if (latest !== undefined) yield* referencesOf([latest]);
    }
    if (latest !== undefined) yield record(name, latest);
  }
}

/** Splits a stream of bytes into BSON documents. @throws StartError when it is no backup, or not complete */
async function* documentsIn(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<mongo.Document> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : Buffer.from(chunk);
    let at = 0;
    while (rest.length - at >= 4) {
      const size = rest.readInt32LE(at);
      if (size < 5 || size > MAX_RECORD_BYTES) throw notABackup();
      if (rest.length - at < size) break;
      yield deserialize(rest.subarray(at, at + size));
      at += size;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw incomplete();
}

function deserialize(bytes: Uint8Array): mongo.Document {
  try {
    return BSON.deserialize(bytes);
  } catch {
    throw notABackup();
  }
}

const notABackup = () => new StartError("The file is not a backup of Signalbox.");
const incomplete = () => new StartError("The backup is not complete: its end is missing. Use another one.");

function checkHeader({ signalboxBackup: format, version }: mongo.Document): void {
  if (typeof format !== "number") throw notABackup();
  if (format === FORMAT) return;
  throw new StartError(
    `The backup holds documents in format ${format}, and this version reads format ${FORMAT} only: restore it with version ${version}, which wrote it.`,
  );
}

/** Yields the records of a backup. @throws StartError when it is no backup, of another format, or not complete */
async function* recordsIn(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<BackupRecord> {
  let hasHeader = false;
  let hasEnd = false;
  for await (const document of documentsIn(bytes)) {
    if (!hasHeader) checkHeader(document);
    if (hasHeader && "collection" in document) yield document as BackupRecord;
    hasHeader = true;
    hasEnd = "counts" in document;
  }
  if (!hasHeader) throw notABackup();
  if (!hasEnd) throw incomplete();
}

/** Reads a backup to its end. @throws StartError when it is no backup, of another format, or not complete */
export async function checkBackup(bytes: AsyncIterable<Uint8Array>, { documents }: Database): Promise<void> {
  for await (const { collection } of recordsIn(bytes)) {
    if (collection in documents) continue;
    throw new StartError(
      `The backup has a collection ${collection}, which this version does not support: use a later version.`,
    );
  }
}

/** Returns whether anything is stored that a restored backup would be mixed with. */
export async function isEmpty({ documents }: Database): Promise<boolean> {
  const found = await Promise.all(restorable(documents).map((collection) => collection.exists({})));
  return found.every((hasDocuments) => !hasDocuments);
}

/** Deletes all stored documents. */
export async function deleteAll({ documents }: Database): Promise<void> {
  for (const collection of restorable(documents)) await collection.deleteMany({});
}

const anyOf = (documents: AllDocuments, name: keyof AllDocuments) =>
  documents[name] as unknown as Documents<mongo.Document>;

const restorable = (documents: AllDocuments): Documents<mongo.Document>[] =>
  (Object.keys(documents) as (keyof AllDocuments)[])
    .filter((name) => !LEFT_OUT.includes(name))
    .map((name) => anyOf(documents, name));

/** Inserts the documents of a backup that `checkBackup` accepts. Documents that exist already stay unchanged. */
export async function restoreBackup(bytes: AsyncIterable<Uint8Array>, { documents }: Database): Promise<Counts> {
  const counts: Record<string, number> = {};
  let name: keyof AllDocuments = "jobs";
  let waiting: mongo.Document[] = [];
  let size = 0;
  const insert = async () => {
    if (waiting.length === 0) return;
    const [inserted = 0] = await insertAll(anyOf(documents, name), [waiting]);
    counts[name] = (counts[name] ?? 0) + inserted;
    waiting = [];
    size = 0;
  };
  for await (const { collection, document } of recordsIn(bytes)) {
    const documentSize = BSON.calculateObjectSize(document);
    if (collection !== name || size + documentSize > MAX_INSERT_BYTES || waiting.length === 1_000) await insert();
    name = collection;
    waiting.push(document);
    size += documentSize;
  }
  await insert();
  return counts;
}
