import { randomUUID } from "node:crypto";
import type { NewHookRequest } from "../../models/intake/hookRequest.ts";
import { toJson } from "../../shared/text/json.ts";
import type { AuthenticatedSender } from "../auth/hookAuth.ts";
import { maskedHead } from "../auth/withoutSecrets.ts";

/** Returns a request as it is kept. @param status the HTTP status of the response */
export function keptRequest(sender: AuthenticatedSender, createdAt: Date, status: number): NewHookRequest {
  const { kind, mapping, call, received } = sender;
  const { body, contentType, address, signature, readNames } = received;
  return {
    _id: randomUUID(),
    createdAt,
    hook: call.path,
    mapping: mapping.key,
    status,
    ...(kind === "filtered" ? { outcome: kind, reason: sender.reason } : { outcome: "accepted" }),
    signature,
    address,
    contentType,
    body,
    head: toJson(maskedHead(call, readNames)),
  };
}
