import { configPath } from "../../../config/load.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { ownCommand } from "../../../shared/process/ownCommands.ts";
import { type Define, withExamples } from "../../command.ts";
import { writePrivateFile } from "../../configFile/privateFile.ts";
import { configTemplate } from "../../configFile/template.ts";
import { generateSecret } from "../../start/savedToken.ts";

/** `init`: writes a configuration file that explains every key, with hooks enabled and new secrets. */
export const init: Define = (command, environment) =>
  withExamples(
    command.option("--force", "replace an existing file"),
    "signalbox init",
    "signalbox init --force",
  ).action(async ({ force = false }: { readonly force?: boolean }) => {
    const path = configPath(await environment());
    const text = configTemplate({
      "server.apiToken": generateSecret(),
      "jobs.deleteAll": "require-all",
      "hooks.enabled": true,
      "hooks.token": generateSecret(),
    });
    if (!write(path, text, force)) {
      throw new StartError(`${path} already exists: pass --force to replace it. Its secrets are lost then.`);
    }
    console.log(
      [
        `Wrote ${path}, readable only by you. It enables the hooks and contains two new secrets:`,
        "  server.apiToken  for clients of /api, which send it as `Authorization: Bearer …`",
        "  hooks.token      for senders of hooks, which send it in the same way",
        `Next: set agents.defaults.runner in the file, then run \`${ownCommand("start")}\`.`,
      ].join("\n"),
    );
  });

function write(path: string, text: string, replace: boolean): boolean {
  try {
    return writePrivateFile(path, text, { replace });
  } catch (error) {
    throw new StartError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
