import type { IncomingHttpHeaders } from "node:http";
import type { ReceivedAct } from "../../channels/inbound.ts";
import { AppError } from "../../shared/errors.ts";

/** The address of one service, which sends there what people do. */
export interface ChatRoute {
  /** The name of the channel, and of the address below the path of the hooks. */
  readonly channel: string;
  /** The setting that an operator checks if the proof of the service is refused. */
  readonly advice: string;
  /** Verifies that the service has sent a request. @throws SenderRefusedError */
  verify(headers: IncomingHttpHeaders, text: string, now: Date): void;
  /**
   * Reads the body of a verified request: the act of a person, if it is one, and the response that acknowledges it.
   * @throws AppError invalid_json
   */
  read(text: string, type: string): { readonly act: ReceivedAct | null; readonly response: string | object };
}

/** Parses a body that must be a JSON object. @throws AppError invalid_json */
// biome-ignore lint/suspicious/noExplicitAny: the readers check each field
export function parseObject(text: string): any {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) return body;
  } catch {}
  throw new AppError("invalid_json", { detail: "The body is neither a JSON object nor a form with one in `payload`." });
}
