import { NOTED_KINDS, type NotedKind } from "../../models/notifications/note.ts";
import { AppError } from "../../shared/errors.ts";
import { type DispatchDeps, dispatchNotes } from "../notify/dispatch.ts";
import type { Processor } from "../runWorkers.ts";

/** Returns the processor that turns the noted events of a record into deliveries. The sweep enqueues what it does not finish. */
export function notifyProcessor(deps: DispatchDeps): Processor {
  return async ({ payload }) => {
    const { kind, id } = payload as { kind: string; id: string };
    if (!isNotedKind(kind)) {
      return { kind: "discard", error: new AppError("internal", { detail: `No record is of the kind ${kind}.` }) };
    }
    const notes = await dispatchNotes(deps, { kind, id });
    return { kind: "done", result: { notes }, isIdle: notes === 0 };
  };
}

const isNotedKind = (kind: string): kind is NotedKind => (NOTED_KINDS as readonly string[]).includes(kind);
