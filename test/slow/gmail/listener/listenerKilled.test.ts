import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { type FreezableMailbox, openMailbox, type Point } from "../../../support/gmail/freezableMailbox.ts";
import { CONSENT } from "../../../support/gmail/gmailFixture.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { redisUrl } from "../../../support/servers/servers.ts";

/** The outcome of killing a listener and continuing with another one. */
interface Outcome {
  /** Whether the listener reached the point; otherwise it finished before. */
  readonly wasHeld: boolean;
  /** Number of runs at the kill, and whether the notification had been acknowledged. */
  readonly atDeath: { readonly runs: number; readonly isAcknowledged: boolean };
  /** Gmail's ids of the mails that have runs after another listener has finished. */
  readonly mailIds: readonly string[];
  readonly expected: readonly string[];
}

/** Longer than a lease. */
const LEASE_HAS_ENDED_MS = 20_000;
let killed = 0;

/** Adds four mails, one of them spam. @returns the ids of those that must become runs */
function receiveMails({ google }: FreezableMailbox, isForgotten: boolean): string[] {
  const expected = [google.mailbox.add(), google.mailbox.add()];
  google.mailbox.add({ labelIds: ["INBOX", "SPAM"] });
  expected.push(google.mailbox.add());
  google.pubsub.publish();
  if (isForgotten) google.mailbox.forgetHistory();
  return expected;
}

/**
 * Runs listeners in a real process, each with its own mailbox and each until it reaches a different point. Kills the process
 * once all have reached it or finished, and starts other listeners, which continue.
 */
async function killAt(
  points: readonly number[],
  { isForgotten, ...point }: Point & { isForgotten: boolean },
): Promise<Outcome[]> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-gmail-"));
  writeFileSync(join(dir, "credentials.json"), JSON.stringify(CONSENT), { mode: 0o600 });
  const app = await startApp({ prefix: `killed-${process.pid}-${killed++}` });
  const closing = [app.close];
  let service: Service | undefined;
  try {
    const mailboxes = await Promise.all(points.map((at) => openMailbox({ app, dir, closing }, at, point)));
    const expected = mailboxes.map((mailbox) => receiveMails(mailbox, isForgotten));
    for (const { holdAtPoint } of mailboxes) holdAtPoint();
    const env = { REDIS_URL: await redisUrl() };
    const files = mailboxes.map(({ configFile, google }) =>
      JSON.stringify({ configFile, addresses: google.addresses }),
    );
    service = startProcess("test/support/processes/gmailListeners.ts", env, files);
    await service.ready;
    for (const [i, { isHeld, isAcknowledged }] of mailboxes.entries()) {
      await eventually(() => isHeld() || isAcknowledged(), `point ${points[i]} or the end`);
    }
    const end = await service.stop("SIGKILL");
    if (end !== "SIGKILL") throw new Error(`it was not killed, but ended with ${end}: ${service.output().stderr}`);
    const atDeath = await Promise.all(
      mailboxes.map(async ({ mailIds, isAcknowledged }) => ({
        runs: (await mailIds()).length,
        isAcknowledged: isAcknowledged(),
      })),
    );

    app.clock.advance(LEASE_HAS_ENDED_MS);
    for (const { thaw, listen } of mailboxes) {
      thaw();
      listen();
    }
    await Promise.all(mailboxes.map(({ isDone }) => isDone()));
    const mailIds = await Promise.all(mailboxes.map((mailbox) => mailbox.mailIds()));
    return mailboxes.map(({ isHeld }, i) => ({
      wasHeld: isHeld(),
      atDeath: atDeath[i]!,
      mailIds: mailIds[i]!,
      expected: expected[i]!,
    }));
  } finally {
    await service?.stop("SIGKILL");
    for (const close of closing.reverse()) await close();
    rmSync(dir, { recursive: true });
  }
}

describe("Gmail listener", () => {
  // The number tried at once is that of the usual points; later ones are those before which the listener finishes.
  for (const [of, when, isForgotten, atOnce, title] of [
    ["google", "request", false, 14, "before each of its requests to Google"],
    ["google", "answer", false, 14, "before the response to each of its requests to Google"],
    ["mongo", "request", false, 9, "before each of its writes"],
    ["mongo", "answer", false, 9, "before it learns the result of each of its writes"],
    ["google", "request", true, 17, "before each of its requests to Google without a history"],
    ["mongo", "request", true, 11, "before each of its writes without a history"],
  ] as const) {
    it(`killed ${title} leads to exactly one run for each mail`, async () => {
      const outcomes: Outcome[] = [];
      do {
        const points = Array.from({ length: atOnce }, (_, i) => outcomes.length + i + 1);
        outcomes.push(...(await killAt(points, { of, when, isForgotten })));
      } while (!outcomes.at(-1)?.atDeath.isAcknowledged);

      expect(outcomes.filter(({ wasHeld }) => wasHeld).length).to.be.greaterThan(5);
      for (const { mailIds, expected, atDeath } of outcomes) {
        expect(mailIds).to.deep.equal(expected);
        if (atDeath.isAcknowledged) expect(atDeath.runs).to.equal(expected.length);
      }
    });
  }
});
