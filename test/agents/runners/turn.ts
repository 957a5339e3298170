import type { AgentReply, AgentTurn } from "../../../src/agents/runners/runner.ts";
import { AppError } from "../../../src/shared/errors.ts";

/** Returns a turn of a run with one user message; `given` overrides its fields. */
export function turn(content: string, given: Partial<AgentTurn> = {}): AgentTurn {
  return { kind: "run", messages: [{ role: "user", content }], env: {}, ...given };
}

/** Returns the AppError with which a turn rejects. */
export async function whatWasThrown(running: Promise<AgentReply>): Promise<AppError> {
  const thrown = await running.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof AppError) return thrown;
  throw thrown ?? new Error("the turn did not reject");
}
