import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { readConfig } from "../../../config/load.ts";
import { type Counts, checkBackup, deleteAll, isEmpty, readBackup, restoreBackup } from "../../../models/backup.ts";
import { checkFormat } from "../../../models/db/format.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { version } from "../../../shared/process/version.ts";
import { writeTarget } from "../../configFile/writeTarget.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { withDatabase } from "../../withStores.ts";
import { prepareDatabase } from "./release.ts";

/**
 * `backup`: writes everything that MongoDB holds to a compressed file. Processes may go on running. The file appears only once
 * it is complete.
 * @param file `-` for standard output; a pipe or a device is written to as it is, without a message, which may go there too
 * @throws StartError when MongoDB cannot be used, or the file cannot be written
 */
export function backup(env: NodeJS.ProcessEnv, file: string): Promise<void> {
  return withDatabase(readConfig(env), async (database) => {
    const reading = readBackup(database, version);
    let counts: Counts = {};
    const source = Readable.from(
      (async function* () {
        counts = yield* reading;
      })(),
      { objectMode: false },
    );
    if (file === "-") return pipeline(source, createGzip(), process.stdout, { end: false });
    try {
      const { path, temporary } = writeTarget(file);
      if (temporary === undefined) return await pipeline(source, createGzip(), createWriteStream(path));
      await untilInterrupted(async (signal) => {
        try {
          const stream = createWriteStream(temporary, { flags: "wx", mode: 0o600, flush: true }); // It holds all data.
          await pipeline(source, createGzip(), stream, { signal });
          await rename(temporary, path);
        } finally {
          await rm(temporary, { force: true });
        }
        console.log(`${file} holds ${describe(counts)}.`);
      });
    } catch (error) {
      throw fileError(error, file);
    }
  });
}

/**
 * `restore`: inserts the documents of a backup.
 * @throws StartError when the file or the database has another format than this version, when the file is no complete backup,
 *   when MongoDB cannot be used, or when it holds data and `force` is not set. Nothing is changed then
 */
export function restore(env: NodeJS.ProcessEnv, file: string, { force }: { force: boolean }): Promise<void> {
  return withDatabase(readConfig(env), async (database, uri) => {
    await openBackup(file, (bytes) => checkBackup(bytes, database));
    await checkFormat(database.collections.jobs.db);
    if (!(await isEmpty(database))) {
      if (!force)
        throw new StartError("The database holds data: with --force it is deleted before the backup is restored.");
      await deleteAll(database);
    }
    await prepareDatabase(uri);
    const counts = await openBackup(file, (bytes) => restoreBackup(bytes, database));
    console.log(`Restored ${describe(counts)}.`);
  });
}

/** Runs `act` with the uncompressed bytes of a file. @throws StartError when the file cannot be read or is no gzip file */
async function openBackup<T>(file: string, act: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
  let result: T | undefined;
  try {
    await pipeline(createReadStream(file), createGunzip(), async (bytes) => {
      result = await act(bytes as AsyncIterable<Uint8Array>);
    });
  } catch (error) {
    throw fileError(error, file);
  }
  return result as T;
}

function fileError(error: unknown, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR") return new StartError("The backup is not complete: its end is missing. Use another one.");
  if (code?.startsWith("Z_")) return new StartError(`${file} is not a backup of Signalbox.`);
  const isOfSystem = code !== undefined && /^E[A-Z]+$/.test(code);
  return isOfSystem ? new StartError(`${file} cannot be used (${code}).`) : error;
}

function describe(counts: Counts): string {
  const inWords = (count = 0, one: string, several: string) => `${count} ${count === 1 ? one : several}`;
  const deliveries = inWords(counts.deliveries, "delivery", "deliveries");
  return `${inWords(counts.jobs, "job", "jobs")}, ${inWords(counts.runs, "run", "runs")}, ${inWords(counts.sessions, "session", "sessions")} and ${deliveries}`;
}
