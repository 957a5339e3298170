import { join } from "node:path";
import { installMongod } from "../../src/cli/start/programs/mongod.mjs";
import { installRedis } from "../../src/cli/start/programs/redis.mjs";
import { isExecutable } from "../../src/cli/start/programs/run.mjs";
import { isConfigured } from "./configured.mjs";

/** Provides .tools/bin/mongod unless the user has configured a MongoDB. */
export const mongod = {
  /** @param {import("./steps.mjs").Context} context */
  async isDone({ tools, mode, ...context }) {
    if (isExecutable(join(tools, "bin", "mongod"))) return true;
    return mode === "start" && (await isConfigured(context, "MONGODB_URI", "mongodb", "uri"));
  },
  run: installMongod,
};

/** Provides .tools/bin/redis-server unless the user has configured a Redis. */
export const redis = {
  /** @param {import("./steps.mjs").Context} context */
  async isDone({ tools, mode, ...context }) {
    if (isExecutable(join(tools, "bin", "redis-server"))) return true;
    return mode === "start" && (await isConfigured(context, "REDIS_URL", "redis", "url"));
  },
  run: installRedis,
};
