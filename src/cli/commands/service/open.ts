import { type Define, serviceCommand, withExamples } from "../../command.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { openBrowser } from "../../terminal/openBrowser.ts";
import { print } from "../../terminal/words.ts";

/** `open`: prints the address of the dashboard, and opens it with the desktop's browser if this machine has one. */
export const open: Define = (command, environment) =>
  withExamples(serviceCommand(command), "signalbox open").action(async (options: ServiceOptions) => {
    const env = await environment();
    return withService(env, options, async ({ url }) => {
      print([url]);
      openBrowser(url, env);
    });
  });
