import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { addDelivery } from "../../../src/models/deliveries/addDelivery.ts";
import type { ReplyTarget } from "../../../src/models/sessions/session.ts";
import { useApp } from "../../support/useApp.ts";

const CONFIGURED = ["telegram", "whatsapp"];
const NO_RECIPIENT = "No recipient is known: set `to`, or the reply target of the main session.";
const NO_REPLY_TARGET =
  "The main session has no reply target: set `session.main`, or run `signalbox route set CHANNEL TO`. " +
  "Until then its replies go to whatsapp, which is not configured.";
const ANNA: ReplyTarget = { channel: "telegram", to: "anna" };
const BERT: ReplyTarget = { channel: "whatsapp", to: "bert" };

describe("addDelivery", () => {
  const app = useApp();

  it("fails with a hint to set a reply target if there is none and the fallback channel is not configured", async () => {
    const wanted = { _id: randomUUID(), runId: null, channel: "last", to: null, text: "x" };

    const { channel, fault } = await addDelivery(app.stores, wanted, { initialReplyTarget: null, channels: new Set() });

    expect({ channel, fault }).to.deep.equal({ channel: "whatsapp", fault: NO_REPLY_TARGET });
  });

  interface Case {
    readonly channel: string;
    readonly to?: string;
    readonly first?: ReplyTarget;
    readonly last?: ReplyTarget;
  }
  const cases: [string, Case, { channel: string; to: string | null; fault: string | null }][] = [
    [
      "uses the channel and recipient of the request",
      { channel: "telegram", to: "x", last: BERT },
      { channel: "telegram", to: "x", fault: null },
    ],
    ["uses the main session's last target for `last`", { channel: "last", last: ANNA }, { ...ANNA, fault: null }],
    [
      "uses the last channel and the given recipient for `last` with a recipient",
      { channel: "last", to: "x", last: ANNA },
      { channel: "telegram", to: "x", fault: null },
    ],
    [
      "uses the configured first route for `last` before any delivery",
      { channel: "last", first: ANNA },
      { ...ANNA, fault: null },
    ],
    [
      "prefers the last target to the configured first route",
      { channel: "last", first: ANNA, last: BERT },
      { ...BERT, fault: null },
    ],
    [
      "fails on whatsapp without a recipient for `last` without any target",
      { channel: "last" },
      { channel: "whatsapp", to: null, fault: NO_RECIPIENT },
    ],
    [
      "uses whatsapp for `last` with only a recipient",
      { channel: "last", to: "+49 1" },
      { channel: "whatsapp", to: "+49 1", fault: null },
    ],
    [
      "uses the last recipient for a channel alone if it was on that channel",
      { channel: "telegram", last: ANNA },
      { ...ANNA, fault: null },
    ],
    [
      "fails without a recipient for a channel alone if the last recipient was on another",
      { channel: "telegram", last: BERT },
      { channel: "telegram", to: null, fault: NO_RECIPIENT },
    ],
    [
      "trims the recipient of the request",
      { channel: "telegram", to: " x\n" },
      { channel: "telegram", to: "x", fault: null },
    ],
    [
      "trims the recipient of the configured first route",
      { channel: "last", first: { channel: "telegram", to: " anna " } },
      { ...ANNA, fault: null },
    ],
    [
      "trims the recipient of the last target",
      { channel: "last", last: { channel: "telegram", to: " anna\n" } },
      { ...ANNA, fault: null },
    ],
    [
      "fails with the name of the key if the channel is not configured",
      { channel: "slack", to: "x" },
      { channel: "slack", to: "x", fault: "The channel slack is not configured: add channels.slack." },
    ],
  ];
  /** Adds a delivery to `last`, and adds it again after the main session's target has changed. */
  async function addTwice(initialReplyTarget: ReplyTarget | null) {
    const wanted = { _id: randomUUID(), runId: null, channel: "last", to: null, text: "x" };
    const settings = { initialReplyTarget, channels: new Set(CONFIGURED) };
    const first = await addDelivery(app.stores, wanted, settings);
    await app.stores.sessions.setReplyTarget(BERT);
    return { _id: wanted._id, first, again: await addDelivery(app.stores, wanted, settings) };
  }

  it("keeps the target of an existing delivery after the main session's target has changed", async () => {
    const { _id, first, again } = await addTwice(ANNA);

    expect(again).to.deep.equal(first).and.to.deep.include({ channel: ANNA.channel, fault: null });
    expect(await app.stores.deliveries.find(_id)).to.deep.include(ANNA);
  });

  it("keeps the failure of an existing delivery after the main session has got a target", async () => {
    const { first, again } = await addTwice(null);

    expect(again).to.deep.equal(first).and.to.have.property("fault", NO_RECIPIENT);
  });

  for (const [title, { channel, to = null, first = null, last }, expected] of cases) {
    it(title, async () => {
      if (last) await app.stores.sessions.setReplyTarget(last);
      const _id = randomUUID();
      const settings = { initialReplyTarget: first, channels: new Set(CONFIGURED) };

      const noted = await addDelivery(app.stores, { _id, runId: null, channel, to, text: "x" }, settings);
      const { state, reason, ...written } = await app.stores.deliveries.find(_id);

      const { fault, ...route } = expected;
      expect(noted).to.deep.equal({ deliveryId: _id, channel: route.channel, fault });
      expect({ channel: written.channel, to: written.to, state, reason }).to.deep.equal({
        ...route,
        state: fault === null ? "pending" : "failed",
        reason: fault,
      });
    });
  }
});
