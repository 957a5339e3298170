import { expect } from "chai";
import { CONFIG, hook } from "../../../api/routes/hooks/keptRequests.ts";
import { eventually } from "../../../support/eventually.ts";
import { TIMES } from "../../../support/random.ts";
import { useApp } from "../../../support/useApp.ts";

/** Refused requests, many times as many as are kept; the nightly command sends more. */
const REFUSED = TIMES > 1 ? 10_000 : 2_000;
describe("kept requests", () => {
  const app = useApp({ config: CONFIG, countFailure: async () => {} });

  const send = (name: string, body: unknown, headers: Record<string, string> = hook) =>
    app.call("POST", `/hooks/${name}`, body, headers);

  it(`${REFUSED} refused requests leave the newest 500 rows`, async () => {
    const numbers = Array.from({ length: REFUSED }, (_, i) => i);
    const sendNext = async () => {
      for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) await send(`none-${n}`, {});
    };
    await Promise.all(Array.from({ length: 20 }, sendNext));
    const last = await send("the-last", {});
    expect(last.status).to.equal(404);
    const { collection } = app.stores.hookRequests;
    await eventually(() => collection.findOne({ hook: "the-last" }), "the last one to be stored");

    await eventually(async () => (await collection.countDocuments({})) === 500, "500 rows to be left");
    const hooks = (await collection.find({})).map(({ hook: name }) => Number(name.slice("none-".length)) || 1e5);
    expect(Math.min(...hooks)).to.be.greaterThan(REFUSED - 600);
  }).timeout(120_000);
});
