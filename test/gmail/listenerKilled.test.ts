import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { runGmailProcess, SUBSCRIPTION, startGmailBed } from "../support/gmailBed.ts";
import { startMongoProxy } from "../support/mongoProxy.ts";

type When = "request" | "answer";

/** What a listener's death must not show in. */
interface Outcome {
  /** Whether the point was reached: else the listener was done before. */
  readonly wasHeld: boolean;
  /** Of the runs when it died, and whether the notice was acknowledged by then. */
  readonly atDeath: { readonly runs: number; readonly isAcknowledged: boolean };
  /** Gmail's ids of the mails that have become runs when another one has taken over and is done. */
  readonly mailIds: readonly string[];
  readonly expected: readonly string[];
}

/** Has a real process take four mails, one of them spam; kills it at a point, and lets another listener go on. */
async function killAt(point: {
  at: number;
  when: When;
  of: "google" | "mongo";
  isForgotten: boolean;
}): Promise<Outcome> {
  const bed = await startGmailBed();
  const { google, timers } = bed;
  let isHeld = false;
  const held = () => {
    isHeld = true;
  };
  const hold = { ...point, held };
  const proxy = point.of === "mongo" ? await startMongoProxy(bed.env.MONGODB_URI ?? "", hold) : undefined;
  try {
    await (await bed.listening()).close();
    // or it would take the notice along
    await eventually(() => google.pubsub.pulling() === 0, "its pull to end");
    const expected = [google.mailbox.add(), google.mailbox.add()];
    google.mailbox.add({ labelIds: ["INBOX", "SPAM"] });
    expected.push(google.mailbox.add());
    google.pubsub.publish();
    if (point.isForgotten) google.mailbox.forgetHistory();
    if (!proxy) google.hold(hold);
    const service = runGmailProcess({ ...bed.env, ...(proxy && { MONGODB_URI: proxy.uri }) });
    const isDone = () => google.pubsub.outstanding(SUBSCRIPTION) === 0;
    await eventually(() => isHeld || isDone(), `point ${point.at} or the end: ${service.output().stderr}`, 30_000);
    await service.stop("SIGKILL");
    const atDeath = { runs: (await bed.runs()).length, isAcknowledged: isDone() };

    google.hold(undefined);
    google.pubsub.redeliver();
    timers.pass(20_000); // its lease ends
    bed.listen();
    await eventually(isDone, "the notice to be acknowledged");
    await eventually(async () => (await bed.mailbox()).cursor === String(google.mailbox.historyId), "the cursor");
    return { wasHeld: isHeld, atDeath, mailIds: await bed.mailIds(), expected };
  } finally {
    await proxy?.close();
    await bed.close();
  }
}

describe("a Gmail listener that is killed with -9", function () {
  this.timeout(300_000);

  for (const [of, when, isForgotten, title] of [
    ["google", "request", false, "before each of its requests to Google"],
    ["google", "answer", false, "before the answer to each of its requests to Google"],
    ["mongo", "request", false, "before each of its writes"],
    ["mongo", "answer", false, "before it knows of each of its writes"],
    ["google", "request", true, "before each of its requests to Google, whose history is forgotten,"],
    ["mongo", "request", true, "before each of its writes, with a history that is forgotten,"],
  ] as const) {
    it(`${title} has made, or lets another make, exactly one run of each mail`, async () => {
      const outcomes: Outcome[] = [];
      do outcomes.push(await killAt({ at: outcomes.length + 1, when, of, isForgotten }));
      while (outcomes.at(-1)?.wasHeld);

      expect(outcomes.length).to.be.greaterThan(6);
      for (const { mailIds, expected, atDeath } of outcomes) {
        expect(mailIds).to.deep.equal(expected);
        if (atDeath.isAcknowledged) expect(atDeath.runs).to.equal(expected.length);
      }
    });
  }
});
