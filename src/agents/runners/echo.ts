import { unfenced } from "../prompt/fence.ts";
import type { AgentRunner } from "./runner.ts";
import { aborted } from "./turnErrors.ts";

const SHOWN_CHARACTERS = 200;

/** Stands in while no agent is configured: repeats the beginning of the message that it was told. */
export const echoRunner: AgentRunner = {
  async run({ kind, messages }, signal) {
    if (signal.aborted) throw aborted(signal);
    if (kind === "heartbeat") return { text: "HEARTBEAT_OK" };
    const told = unfenced(messages.findLast(({ role }) => role === "user")?.content ?? "").trim();
    const characters = [...told.slice(0, 2 * SHOWN_CHARACTERS + 1)];
    const shown = characters.slice(0, SHOWN_CHARACTERS).join("");
    return { text: `The echo runner was told: ${shown}${characters.length > SHOWN_CHARACTERS ? "…" : ""}` };
  },
};
