import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { addDelivery } from "../../../src/models/deliveries/addDelivery.ts";
import type { ReplyTarget } from "../../../src/models/sessions/session.ts";
import { startApp, type TestApp } from "../../support/app.ts";

const CONFIGURED = ["telegram", "whatsapp"];
const NO_NOTIFIER = "No recipient is known: give `to`, or set the main session's route.";
const NO_ROUTE =
  "The main session has no route yet: set `session.main`, or one with `signalbox route set CHANNEL TO`. " +
  "Until then it is whatsapp, which is not configured.";
const ANNA: ReplyTarget = { channel: "telegram", to: "anna" };
const BERT: ReplyTarget = { channel: "whatsapp", to: "bert" };

describe("where a reply goes", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(() => app.close());

  it("says that there is no route, where nobody has named the channel that is not configured", async () => {
    const wanted = { _id: randomUUID(), runId: null, channel: "last", to: null, text: "x" };

    const { channel, fault } = await addDelivery(app.stores, wanted, { firstRoute: null, channels: new Set() });

    expect({ channel, fault }).to.deep.equal({ channel: "whatsapp", fault: NO_ROUTE });
  });

  interface Case {
    readonly channel: string;
    readonly to?: string;
    readonly first?: ReplyTarget;
    readonly last?: ReplyTarget;
  }
  const cases: [string, Case, { channel: string; to: string | null; fault: string | null }][] = [
    [
      "the channel and recipient asked for",
      { channel: "telegram", to: "x", last: BERT },
      { channel: "telegram", to: "x", fault: null },
    ],
    ["`last`: the main session's last", { channel: "last", last: ANNA }, { ...ANNA, fault: null }],
    [
      "`last` with a recipient: the last channel, that recipient",
      { channel: "last", to: "x", last: ANNA },
      { channel: "telegram", to: "x", fault: null },
    ],
    [
      "`last` before any delivery: the first route of the configuration",
      { channel: "last", first: ANNA },
      { ...ANNA, fault: null },
    ],
    ["the last one rather than the first", { channel: "last", first: ANNA, last: BERT }, { ...BERT, fault: null }],
    [
      "`last` with nothing to go by: whatsapp, to nobody",
      { channel: "last" },
      { channel: "whatsapp", to: null, fault: NO_NOTIFIER },
    ],
    [
      "`last` with nothing but a recipient: whatsapp",
      { channel: "last", to: "+49 1" },
      { channel: "whatsapp", to: "+49 1", fault: null },
    ],
    [
      "a channel alone: the last recipient, where it was on that channel",
      { channel: "telegram", last: ANNA },
      { ...ANNA, fault: null },
    ],
    [
      "a channel alone, where the last was on another: nobody",
      { channel: "telegram", last: BERT },
      { channel: "telegram", to: null, fault: NO_NOTIFIER },
    ],
    [
      "a recipient with spaces around: without them",
      { channel: "telegram", to: " x\n" },
      { channel: "telegram", to: "x", fault: null },
    ],
    [
      "a first route with spaces around: without them",
      { channel: "last", first: { channel: "telegram", to: " anna " } },
      { ...ANNA, fault: null },
    ],
    [
      "a last one with spaces around: without them",
      { channel: "last", last: { channel: "telegram", to: " anna\n" } },
      { ...ANNA, fault: null },
    ],
    [
      "a channel that is not configured: nowhere, and says which key",
      { channel: "slack", to: "x" },
      { channel: "slack", to: "x", fault: "The channel slack is not configured: add channels.slack." },
    ],
  ];
  /** Notes a reply for the last route, and once more when that has become another. */
  async function addTwice(firstRoute: ReplyTarget | null) {
    const wanted = { _id: randomUUID(), runId: null, channel: "last", to: null, text: "x" };
    const settings = { firstRoute, channels: new Set(CONFIGURED) };
    const first = await addDelivery(app.stores, wanted, settings);
    await app.stores.sessions.setRoute(BERT);
    return { _id: wanted._id, first, again: await addDelivery(app.stores, wanted, settings) };
  }

  it("stays where it was to go, when it is noted again after the last route has become another", async () => {
    const { _id, first, again } = await addTwice(ANNA);

    expect(again).to.deep.equal(first).and.to.deep.include({ channel: ANNA.channel, fault: null });
    expect(await app.stores.deliveries.find(_id)).to.deep.include(ANNA);
  });

  it("has failed still, when it is noted again after there was somewhere to go", async () => {
    const { first, again } = await addTwice(null);

    expect(again).to.deep.equal(first).and.to.have.property("fault", NO_NOTIFIER);
  });

  for (const [title, { channel, to = null, first = null, last }, expected] of cases) {
    it(title, async () => {
      if (last) await app.stores.sessions.setRoute(last);
      const _id = randomUUID();
      const settings = { firstRoute: first, channels: new Set(CONFIGURED) };

      const noted = await addDelivery(app.stores, { _id, runId: null, channel, to, text: "x" }, settings);
      const { state, reason, ...written } = await app.stores.deliveries.find(_id);

      const { fault, ...route } = expected;
      expect(noted).to.deep.equal({ deliveryId: _id, channel: route.channel, fault });
      expect({ channel: written.channel, to: written.to, state, reason }).to.deep.equal({
        ...{ ...route, state: fault === null ? "pending" : "failed", reason: fault },
      });
    });
  }
});
