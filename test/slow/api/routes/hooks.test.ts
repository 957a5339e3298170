import { expect } from "chai";
import { startApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { startMongod } from "../../../support/servers/servers.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };
const config = (more = "") => `{ hooks: { enabled: true, token: "${TOKEN}"${more} } }`;

describe("hooks while MongoDB is unavailable", () => {
  it("are answered with 503 and Retry-After; the same Idempotency-Key then has one effect", async () => {
    const mongod = await startMongod();
    const mapped = ', mappings: [{ match: { path: "ci" } }]';
    const app = await startApp({ config: config(mapped), mongo: `${mongod.url}/x` });
    const send = (hook: string, body: object, key?: string) =>
      app.call("POST", `/hooks/${hook}`, body, { ...bearer, ...(key && { "Idempotency-Key": key }) });
    try {
      await mongod.stop("SIGKILL");
      const away = await Promise.all([
        send("agent", { message: "x" }),
        send("wake", { text: "x" }),
        send("agent", { message: "x" }, "a"),
        send("ci", {}),
        send("ci", {}, "ci"),
      ]);
      await mongod.start();
      await eventually(async () => (await app.call("GET", "/readyz")).status === 200, "the recovery");
      const back = [await send("agent", { message: "x" }, "a"), await send("agent", { message: "x" }, "a")];
      const ci = [await send("ci", {}, "ci"), await send("ci", {}, "ci")];

      for (const { status, headers, body } of away) {
        expect(status).to.equal(503);
        expect(Number(headers.get("Retry-After"))).to.be.at.least(1);
        expect(body).to.include({ code: "unavailable" });
      }
      expect([...back, ...ci].map(({ status }) => status)).to.deep.equal([202, 202, 202, 202]);
      expect(back[0]?.body).to.deep.equal(back[1]?.body);
      expect(ci[0]?.body).to.deep.equal(ci[1]?.body);
      expect(await app.stores.runs.collection.native.countDocuments()).to.equal(2);
    } finally {
      await app.close();
      await mongod.remove();
    }
  });
});
