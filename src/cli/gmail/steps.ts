import { setTimeout as pause } from "node:timers/promises";
import type { GmailApi } from "../../gmail/api/gmailApi.ts";
import { GoogleError } from "../../gmail/api/googleError.ts";
import { GMAIL_PUBLISHER, type PubSubSetup } from "../../gmail/setup/pubsubSetup.ts";
import { StartError } from "../../shared/process/lifecycle.ts";
import { explainFailure, type SetupNames, type StepName } from "./remedies.ts";

/** Maximum time until a new grant takes effect. */
const GRANT_WITHIN_MS = 60_000;

/** Prints a step. `did`: it is complete. `would`: a dry run found that it is not. */
export function printStep(mark: "did" | "would", step: StepName, what: string): void {
  console.log(`${(mark === "did" ? "ok" : "would").padEnd(7)}${step.padEnd(15)}${what}`);
}

/** Runs one step. @throws StartError with the step and the remedy */
export async function inStep<T>(step: StepName, names: SetupNames, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (thrown) {
    throw new StartError(`${"FAILED".padEnd(7)}${step.padEnd(15)}${explainFailure(step, thrown, names)}`);
  }
}

export interface PubSubNames {
  readonly topic: string;
  readonly subscription: string;
}

/** Creates the topic, the grant and the subscription if they are missing. @returns whether the grant is new */
export async function ensurePubSub(
  { topic, subscription }: PubSubNames,
  setup: PubSubSetup,
  names: SetupNames,
  dryRun: boolean,
): Promise<boolean> {
  const { signal } = new AbortController();
  const ensure = async (step: StepName, what: string, act: () => ReturnType<PubSubSetup["ensureTopic"]>) => {
    const ensured = await inStep(step, names, act);
    if (ensured === "unreadable") printStep("did", step, `${what} (cannot be checked; the watch will show it)`);
    else if (!dryRun || ensured === "unchanged") printStep("did", step, `${what} (${ensured})`);
    else printStep("would", step, `${what} (would be ${ensured})`);
    return ensured === "created" && !dryRun;
  };
  await ensure("topic", topic, () => setup.ensureTopic(topic, signal));
  const isNew = await ensure("publisher", GMAIL_PUBLISHER, () => setup.ensurePublisher(topic, GMAIL_PUBLISHER, signal));
  await ensure("subscription", subscription, () => setup.ensureSubscription(subscription, topic, signal));
  return isNew;
}

/** Starts or renews Gmail's watch. Waits for a new grant to take effect. */
export async function startWatch(
  { topic, label }: { topic: string; label: string },
  gmail: GmailApi,
  names: SetupNames,
  isGrantNew: boolean,
): Promise<void> {
  const { signal } = new AbortController();
  const expiresAt = await inStep("watch", names, async () => {
    for (let waitMs = 1_000; ; waitMs *= 2) {
      try {
        return (await gmail.watch({ topic, labelIds: [label] }, signal)).expiresAt;
      } catch (error) {
        const isEarly = error instanceof GoogleError && error.status === 403 && error.kind === "refused";
        if (!isEarly || !isGrantNew || waitMs > GRANT_WITHIN_MS / 2) throw error;
      }
      console.log(`       The grant has no effect yet; the next attempt is in ${waitMs / 1_000} s`);
      await pause(waitMs);
    }
  });
  printStep("did", "watch", `${label} (until ${expiresAt.toISOString()}; the listener renews it)`);
}
