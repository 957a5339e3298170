import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Service } from "./service.ts";

/** The hook token; the naive service does not check it. */
const TOKEN = "the-bench-alone-rings-here";

export const HOOK_HEADERS = { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}` };

export const agentHookBody = (wakeMode: "now" | "next-heartbeat"): string =>
  JSON.stringify({
    message:
      "A new issue was opened in acme/shop by jdoe: the export of March ends after 4096 rows, without an error. Find out why, and say in two sentences what to do.",
    name: "Issues",
    wakeMode,
    deliver: false,
  });

export const wakeHookBody: string = JSON.stringify({
  text: "The nightly import of the partner's records has ended: 12500 records, 3 of them refused.",
  mode: "now",
});

/**
 * Posts a hook and returns its run, and the time of the response by `Date.now()`.
 * @throws Error unless the status is 202
 */
export async function postHook(
  { name, url }: Pick<Service, "name" | "url">,
  path: string,
  body: string,
): Promise<{ runId: string; answeredAt: number }> {
  const response = await fetch(url + path, { method: "POST", headers: HOOK_HEADERS, body });
  const answeredAt = Date.now();
  const text = await response.text();
  if (response.status !== 202) throw new Error(`${name} answered a hook with ${response.status}: ${text}`);
  return { runId: (JSON.parse(text) as { runId: string }).runId, answeredAt };
}

export const hookPaths = { endless: "/hooks/endless", other: "/hooks/other" } as const;

/** A configuration file with its transforms. */
export interface HookConfig {
  readonly path: string;
  /** The file to which each run of the endless transform appends one character. */
  readonly begun: string;
  remove(): Promise<void>;
}

/**
 * Writes a configuration file with hooks, the echo runner and two mappings with transforms: one that never ends, and
 * one that ends at once.
 */
export function writeHookConfig(transformTimeoutSeconds: number): HookConfig {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const path = join(dir, "signalbox.json5");
  const begun = join(dir, "begun");
  const mapping = (name: string) => ({ match: { path: name }, transform: { module: `${name}.js` }, deliver: false });
  const config = {
    hooks: {
      ...{ enabled: true, token: TOKEN, transformsDir: dir, transformTimeoutSeconds },
      mappings: [mapping("endless"), mapping("other")],
    },
    agents: { defaults: { runner: "echo" } },
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  const endless = `import { appendFileSync } from "node:fs";
    export default () => { appendFileSync(${JSON.stringify(begun)}, "x"); for (;;); };`;
  writeFileSync(join(dir, "endless.js"), endless);
  writeFileSync(join(dir, "other.js"), `export default () => ({ message: "x", wakeMode: "next-heartbeat" });`);
  writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
  return { path, begun, remove: async () => rmSync(dir, { recursive: true }) };
}
