import { closeBrowser } from "./browser.ts";
import { stopServers } from "./servers.ts";

/** Whatever a test left open keeps the process alive: then the run fails and says what it is. */
const GRACE_MS = 5_000;

export const mochaHooks = {
  async afterAll(): Promise<void> {
    await closeBrowser();
    await stopServers();
    setTimeout(() => {
      console.error(`A test left something open: ${process.getActiveResourcesInfo().join(", ")}`);
      process.on("exit", () => {
        process.exitCode = 1; // mocha sets it to its own count of failures, before this
      });
      process.exit();
    }, GRACE_MS).unref();
  },
};
