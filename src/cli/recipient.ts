import { MAX_RECIPIENT } from "../config/session.ts";
import { CommandError, EXIT } from "./exit.ts";

/** Returns a recipient without surrounding white space. @throws CommandError if it is empty or too long */
export function parseRecipient(typed: string): string {
  const to = typed.trim();
  if (to === "")
    throw new CommandError(EXIT.usage, "The recipient is empty: pass it in the form that the channel uses.");
  if (to.length > MAX_RECIPIENT)
    throw new CommandError(EXIT.usage, `The recipient is too long: it can have at most ${MAX_RECIPIENT} characters.`);
  return to;
}
