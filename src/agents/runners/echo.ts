import { unfenced } from "../prompt/fence.ts";
import type { AgentRunner } from "./runner.ts";
import { abortError } from "./turnErrors.ts";

const SHOWN_CHARACTERS = 200;

/** The runner while no agent is configured: its reply repeats the beginning of the message. */
export const echoRunner: AgentRunner = {
  async run({ kind, messages }, signal) {
    if (signal.aborted) throw abortError(signal);
    if (kind === "heartbeat") return { text: "HEARTBEAT_OK" };
    const message = unfenced(messages.findLast(({ role }) => role === "user")?.content ?? "").trim();
    const characters = [...message.slice(0, 2 * SHOWN_CHARACTERS + 1)];
    const shown = characters.slice(0, SHOWN_CHARACTERS).join("");
    return { text: `The echo runner received: ${shown}${characters.length > SHOWN_CHARACTERS ? "…" : ""}` };
  },
};
