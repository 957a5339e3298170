import { configPath } from "../../shared/config/load.ts";
import { StartError } from "../../shared/lifecycle.ts";
import { writePrivateFile } from "../configFile/privateFile.ts";
import { configTemplate } from "../configFile/template.ts";
import { generateSecret } from "../start/firstUse.ts";

/**
 * `init`: writes a configuration file that explains every key, with hooks enabled and new secrets.
 * @throws StartError if there is a file already and `force` is false, or the file cannot be written
 */
export function init(env: NodeJS.ProcessEnv, { force }: { force: boolean }): void {
  const path = configPath(env);
  const text = configTemplate({
    "server.apiToken": generateSecret(),
    "hooks.enabled": true,
    "hooks.token": generateSecret(),
  });
  if (!write(path, text, force)) {
    throw new StartError(`There is a file ${path} already: --force replaces it, and its secrets are gone then.`);
  }
  console.log(
    [
      `Wrote ${path}, which only you can read. The hooks are on; fresh secrets are in it:`,
      "  server.apiToken  clients of /api send it as `Authorization: Bearer …`",
      "  hooks.token      senders of hooks send it likewise",
      "Next: set agents.defaults.runner and what it needs, then `npm start`.",
    ].join("\n"),
  );
}

function write(path: string, text: string, replace: boolean): boolean {
  try {
    return writePrivateFile(path, text, { replace });
  } catch (error) {
    throw new StartError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
