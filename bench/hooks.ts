import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The naive service lets in whoever comes. */
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

/** A configuration file with the hooks on and agents that only repeat what they are told. */
export function writeHookConfig(): { readonly path: string; remove(): Promise<void> } {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const path = join(dir, "signalbox.json5");
  const config = { hooks: { enabled: true, token: TOKEN }, agents: { defaults: { runner: "echo" } } };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return { path, remove: async () => rmSync(dir, { recursive: true }) };
}
