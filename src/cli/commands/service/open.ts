import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { openBrowser } from "../../terminal/openBrowser.ts";
import { print } from "../../terminal/words.ts";

/**
 * `open`: prints the address of the dashboard, and opens it with the desktop's browser if this machine has one.
 * @throws CommandError for an invalid address
 */
export function open(env: NodeJS.ProcessEnv, options: ServiceOptions): Promise<void> {
  return withService(env, options, async ({ url }) => {
    print([url]);
    openBrowser(url, env);
  });
}
