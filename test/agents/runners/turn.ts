import type { AgentReply, AgentTurn } from "../../../src/agents/runners/runner.ts";
import { AppError } from "../../../src/shared/errors.ts";

/** A run with one user's message, and with whatever else is given. */
export function turn(content: string, given: Partial<AgentTurn> = {}): AgentTurn {
  return { kind: "run", messages: [{ role: "user", content }], env: {}, ...given };
}

/** The AppError that a turn ends with. */
export async function whatWasThrown(running: Promise<AgentReply>): Promise<AppError> {
  const thrown = await running.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof AppError) return thrown;
  throw thrown ?? new Error("nothing was thrown");
}
