import { createClient } from "../../src/client/client.ts";
import type { TestApp } from "../support/app.ts";

/** Waits until a new service receives live events: an earlier watch would report a lost connection. */
export async function hearsChanges({ url }: TestApp): Promise<void> {
  const client = createClient({ url });
  for await (const { type, data } of client.watch()) if (type === "state" && data.live) break;
  await client.close();
}
