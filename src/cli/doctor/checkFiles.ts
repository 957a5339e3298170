import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../../config/config.ts";
import { configFile } from "../../config/load.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** Checks that the files that hold secrets or data belong to their owner alone. */
export function checkFiles(env: NodeJS.ProcessEnv, config: Config): Finding[] {
  const file = configFile(env);
  const credentials = config.hooks.gmail?.credentialsFile;
  const paths = [
    ...[file?.path, resolve(".env"), credentials].flatMap((path) => (path ? [{ path, mode: "600" }] : [])),
    { path: resolve(config.dataDir), mode: "700" },
  ];
  const rights = paths.flatMap(({ path, mode }) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || (found.mode & 0o077) === 0) return [];
    return [warn(`${path} can be read by other users of this machine: chmod ${mode} ${path}`)];
  });
  return [ok(`The configuration (${file?.path ?? "environment and defaults"}) is valid.`), ...rights];
}
