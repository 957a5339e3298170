import { spawn } from "node:child_process";
import { withoutOwnSecrets } from "../../config/load.ts";

const PROGRAMS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Asks the desktop to open an address. Failures are not reported, so callers also print the address. */
export function openBrowser(address: string, env: NodeJS.ProcessEnv): void {
  const [program, ...args] = PROGRAMS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, address], { env: withoutOwnSecrets(env), stdio: "ignore", detached: true });
  child.on("error", () => {}); // there is no such program
  child.unref();
}
