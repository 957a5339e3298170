import { spawn } from "node:child_process";
import { withoutOwnSecrets } from "../../shared/config/ownSecrets.ts";

const PROGRAMS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Asks the desktop to show an address. Whether it could is not known: the address has to be printed in any case. */
export function openBrowser(address: string, env: NodeJS.ProcessEnv): void {
  const [program, ...args] = PROGRAMS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, address], { env: withoutOwnSecrets(env), stdio: "ignore", detached: true });
  child.on("error", () => {}); // there is none
  child.unref();
}
