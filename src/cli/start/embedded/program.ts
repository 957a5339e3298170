import { join } from "node:path";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { isPackage } from "../../../shared/process/ownCommands.ts";
import { installMongod } from "../programs/mongod.mjs";
import { Progress } from "../programs/progress.mjs";
import { installRedis } from "../programs/redis.mjs";
import { endChildren, isExecutable } from "../programs/run.mjs";
import { removeScratch, removeStaleScratch } from "../programs/scratch.mjs";
import { SetupError } from "../programs/setupError.mjs";

const INSTALL = { mongod: installMongod, "redis-server": installRedis };

/** The directory of the programs. The npm package keeps them with the data, because its own files are replaced by updates. */
const toolsDir = (dataDir: string): string =>
  isPackage ? join(dataDir, "tools") : join(import.meta.dirname, "..", "..", "..", "..", ".tools");

/**
 * Returns the path of a server's program, and finds or fetches the program at the first call. A clone's set-up has done so
 * already.
 * @throws StartError if there is none
 */
export async function programPath(name: keyof typeof INSTALL, dataDir: string): Promise<string> {
  const tools = toolsDir(dataDir);
  const path = join(tools, "bin", name);
  if (isExecutable(path)) return path;
  const clear = () => {
    endChildren();
    removeScratch(tools);
  };
  process.once("exit", clear); // A signal ends this process during a download.
  try {
    removeStaleScratch(tools);
    await INSTALL[name]({ tools, progress: new Progress(process.stdout) });
    return path;
  } catch (error) {
    const cause = SetupError.from(error);
    throw cause ? new StartError(cause.message) : error;
  } finally {
    process.off("exit", clear);
    clear();
  }
}
