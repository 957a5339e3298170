import { CHANNELS } from "../shared/channelNames.ts";
import { MAX_RECIPIENT } from "../shared/configSession.ts";
import { StartError } from "../shared/lifecycle.ts";

/** @throws StartError where there is no channel of this name, configured or not */
export function checkChannel(name: string): void {
  if (CHANNELS.some((known) => known === name)) return;
  throw new StartError(`There is no channel ${name}: take one of ${CHANNELS.join(", ")}.`);
}

/** A recipient as it was typed, without spaces around. @throws StartError where it is none */
export function recipientOf(typed: string): string {
  const to = typed.trim();
  if (to === "") throw new StartError("The recipient is empty: name it as the channel does.");
  if (to.length > MAX_RECIPIENT)
    throw new StartError(`The recipient is too long: ${MAX_RECIPIENT} characters at most.`);
  return to;
}
