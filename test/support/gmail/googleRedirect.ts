import { fileURLToPath } from "node:url";
import type { GoogleServer } from "./googleServer.ts";

/** Returns the address at a test server that stands for an address of Google; any other address as it is. */
export function googleAddress(input: string | URL | Request, server: string): string | URL | Request {
  const { hostname, pathname, search } = new URL(input instanceof Request ? input.url : input);
  if (hostname === "accounts.google.com") return new URL(`/consent${search}`, server);
  return hostname.endsWith(".googleapis.com") ? new URL(pathname + search, server) : input;
}

/** Returns the environment of a process whose requests for Google reach a test server: Node loads this file before the program. */
export const redirectedTo = ({ url }: GoogleServer) => ({
  NODE_OPTIONS: `--import=${fileURLToPath(import.meta.url)}`,
  TEST_GOOGLE: url,
});

const { TEST_GOOGLE } = process.env;
if (TEST_GOOGLE) {
  const { fetch } = globalThis;
  globalThis.fetch = (input, options) => fetch(googleAddress(input, TEST_GOOGLE), options);
}
