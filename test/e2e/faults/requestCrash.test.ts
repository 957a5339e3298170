import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { startProcess } from "../../support/process.ts";

const TOKEN = "a-hook-token-of-length";
const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
const CONFIG = `{ redis: { prefix: "request-crash" }, hooks: { enabled: true, token: "${TOKEN}", keepRequests: "7d", mappings: [
  { match: { path: "items" }, forEach: "items", messageTemplate: "{{item}}" },
] } }`;

describe("a web process that is killed while it keeps requests", () => {
  let app: TestApp;
  let dir: string;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-requests-"));
    writeFileSync(join(dir, "signalbox.json5"), CONFIG);
    app = await startApp({ config: CONFIG, prefix: "request-crash" });
  });
  after(async () => {
    await app.close();
    rmSync(dir, { recursive: true });
  });

  it("leaves for each request both it and its runs, or neither, and all of what it has answered", async () => {
    const env = { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl, LOG_LEVEL: "warn" };
    const service = startProcess("src/api/main.ts", { ...env, SIGNALBOX_CONFIG: join(dir, "signalbox.json5") });
    const { url } = await service.ready;
    const answered: string[] = [];
    const send = async (n: number) => {
      const body = JSON.stringify({ items: [`${n}-a`, `${n}-b`] });
      const response = await fetch(`${url}/hooks/items`, { method: "POST", headers, body });
      const { runIds } = (await response.json()) as { runIds: string[] };
      answered.push(...runIds);
    };
    const sending = Promise.all(Array.from({ length: 300 }, (_, n) => send(n).catch(() => {})));
    await eventually(() => answered.length > 60, "some answers");

    await service.stop("SIGKILL");
    await sending;

    const { body } = await app.call("GET", "/api/hooks/requests?limit=1000");
    const shown: string[] = body.requests.flatMap(({ runIds }: { runIds: string[] }) => runIds);
    const made = (await app.stores.runs.collection.native.find().toArray()).map(({ _id }) => _id);
    expect(answered.length).to.be.lessThan(600);
    expect(shown).to.have.members(made);
    expect(shown).to.include.members(answered);
  });
});
