import type { CallOptions } from "./api.ts";
import { withRetry } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { CancelledError, SignalboxError } from "./error.ts";
import type { Gate, GateAction } from "./records/gates.ts";
import type { FreeObject, Job } from "./records/jobs.ts";
import { waitForEnd } from "./wait.ts";

export interface Question extends CallOptions {
  /** The question in one line. */
  readonly title: string;
  /** The facts that a person needs to decide. */
  readonly message?: string | undefined;
  /** The form as a JSON Schema: a flat object, as MCP's `requestedSchema`. */
  readonly schema?: object | undefined;
  /** The seconds after which the gate expires, counted from when it is opened. */
  readonly expiresIn?: number | undefined;
  /** The action if it expires; `decline` by default. */
  readonly onExpiry?: GateAction | undefined;
}

export interface Answer {
  readonly action: GateAction;
  /** The entered values, if the action is `accept`. */
  readonly content: FreeObject | null;
}

/**
 * Opens the gate at the path unless it exists, and returns the answer, however long that takes.
 * @throws CancelledError once cancellation of the job is requested; SignalboxError job_ended once it has ended otherwise,
 * also for a question that the service rejects, and job_not_found; the signal's reason
 */
export async function ask(
  context: ClientContext,
  path: string,
  { title, message, schema, expiresIn, onExpiry, signal }: Question,
): Promise<Answer> {
  const call = <T>(method: "GET" | "PUT", at: string, body?: object) =>
    withRetry<T>(context, context.retryForMs, method, at, { body, signal });
  const refusal = (codes: RegExp) => (error: SignalboxError) => {
    if (codes.test(error.code)) return error.code;
    throw error;
  };
  /** @param known what is thrown if the token may not read the job */
  const throwIfOver = async (known?: Error) => {
    const job = await call<Job>("GET", path.replace(/\/gates\/[^/]*$/, "")).catch(refusal(/^forbidden$/));
    if (typeof job === "string") {
      if (known) throw known;
      return;
    }
    if (job.cancel) throw new CancelledError(job.cancel.reason);
    if (job.status !== "running") throw ended;
  };
  const ended = new SignalboxError(409, "job_ended", "The job has ended.");
  // The time of an open gate stays as it is.
  const isNew = expiresIn && typeof (await call("GET", path).catch(refusal(/^gate_not_found$/))) === "string";
  const expiresAt = isNew ? new Date(Date.now() + expiresIn * 1_000) : undefined;
  const question = { title, message, requestedSchema: schema, onExpiry, expiresAt };
  // A gate that is not open any more has the answer already.
  const refused = await call("PUT", path, question).catch(refusal(/^gate_(answered|closed)$|^job_ended$/));
  if (refused === "job_ended") await throwIfOver(ended);
  const isOver = ({ status, cancelRequested }: Gate) => status !== "open" || !!cancelRequested;
  for (;;) {
    const { status, action, content, cancelRequested } = await waitForEnd(context, path, { signal }, isOver);
    if (status === "open" || status === "withdrawn") await throwIfOver(cancelRequested && new CancelledError(null));
    if (status !== "open") return { action: action ?? "cancel", content };
  }
}
