import { GONE_RULE, MARK } from "../system/services.ts";
import { outOfOrder, runsByMark } from "./checkHooks.ts";
import type { History, Hook, Post, StoredDelivery, StoredRun } from "./history.ts";
import type { Violation } from "./violation.ts";

/** Splits a reply into paragraphs, which are one message or several. */
const paragraphs = (text: string): string[] => text.split(/\n\n+/).filter((part) => part.trim() !== "");

/**
 * Checks that each paragraph of a reply was delivered once, or more often only if the record says so; only from the
 * turn that ended the run; and to each recipient in the order of the replies.
 */
export function checkDeliveries({ hooks, posts, stored }: Pick<History, "hooks" | "posts" | "stored">): Violation[] {
  const seen = Map.groupBy(posts, ({ channel, to }) => `${channel} ${to}`);
  const runs = runsByMark(stored.runs);
  return [
    ...hooks.flatMap((hook) => checkWanted(hook, runs.get(hook.mark)?.[0], stored.deliveries)),
    ...stored.deliveries.flatMap((delivery) =>
      checkSent(delivery, seen.get(`${delivery.channel} ${delivery.to}`) ?? []),
    ),
    ...checkStrangers(posts, stored.deliveries),
    ...checkOrder(hooks, posts),
  ];
}

/** Checks that a completed run with a delivery request has one delivery, to the requested recipient. */
function checkWanted(hook: Hook, run: StoredRun | undefined, deliveries: readonly StoredDelivery[]): Violation[] {
  if (!hook.to || run?.status !== "completed") return [];
  const own = deliveries.filter(({ runId }) => runId === run.id);
  const { channel, to } = hook.to;
  const isRight = own.length === 1 && own[0]?.channel === channel && own[0].to === to && own[0].text === run.reply;
  if (isRight) return [];
  const kind = own.length > 1 ? "doubled" : own.length === 0 ? "lost" : "ended twice";
  return [{ kind, what: `run ${run.id}: its deliveries are ${JSON.stringify(own)}, its reply ${run.reply}` }];
}

function checkSent(delivery: StoredDelivery, posts: readonly Post[]): Violation[] {
  const { id, to, state, text, maybeTwice, reason } = delivery;
  const report = (kind: Violation["kind"], what: string): Violation => ({ kind, what: `delivery ${id}: ${what}` });
  if (state === "pending") return [report("stuck", "it is still pending")];
  if (to === GONE_RULE) return state === "failed" ? [] : [report("ended twice", "it was sent, and answered with 410")];
  if (state === "failed" && !isGivenUp(delivery)) return [report("lost", `it failed: ${reason}`)];
  return paragraphs(text).flatMap((part) => {
    const times = posts.filter((post) => post.text.includes(part)).length;
    if (times === 0 && state === "sent") return [report("lost", `it is sent, and nobody saw ${JSON.stringify(part)}`)];
    if (times > 1 && !maybeTwice) return [report("doubled", `${JSON.stringify(part)} was seen ${times} times`)];
    return [];
  });
}

/** Two workers died while sending the same part: it is not sent a third time, and the record says so. */
export const isGivenUp = ({ state, maybeTwice, reason }: StoredDelivery): boolean =>
  state === "failed" && maybeTwice && /may have arrived/.test(reason ?? "");

/** Checks that every message belongs to a delivery. */
function checkStrangers(posts: readonly Post[], deliveries: readonly StoredDelivery[]): Violation[] {
  const wanted = new Set(deliveries.flatMap(({ text }) => paragraphs(text)));
  const strange = posts.filter(({ text }) => paragraphs(text).some((part) => !wanted.has(part.trim())));
  return strange.map(({ text }) => ({
    kind: "ended twice",
    what: `people saw ${JSON.stringify(text)}, which is no reply`,
  }));
}

function checkOrder(hooks: readonly Hook[], posts: readonly Post[]): Violation[] {
  const found: Violation[] = [];
  for (const [session, ofSession] of Map.groupBy(hooks, (hook) => hook.session)) {
    const to = ofSession[0]?.to;
    if (session === null || !to) continue;
    const accepted = ofSession.map(({ mark }) => mark);
    const own = new Set(accepted);
    const there = posts.filter((post) => post.channel === to.channel && post.to === to.to);
    const first = [...new Set(there.flatMap(({ text }) => text.match(MARK) ?? []))].filter((mark) => own.has(mark));
    const late = outOfOrder(first, accepted);
    if (late) found.push({ kind: "order", what: `replies of session ${session}: people saw ${late.join(" before ")}` });
  }
  return found;
}
