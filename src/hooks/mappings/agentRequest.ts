import type { Static, TObject } from "typebox";
import { resolveModel } from "../../config/agents/agent.ts";
import { type AgentSettings, agentFault, agentSettings } from "../../config/agents/agents.ts";
import { recipientFault } from "../../config/channels/recipients.ts";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../shared/errors.ts";
import { sessionKeyFault } from "../../shared/sessionKey.ts";
import { errorCodeFor } from "../templates/render.ts";
import type { TransformOutcome } from "../transforms/transforms.ts";
import type { agentFields, MappedAgent } from "./fields.ts";
import { defaultKeyOf, type Mapping } from "./mapping.ts";

/** Returns the fields of a run, with defaults for those that the request omits. @param model already resolved */
export function agentRequest(
  fields: Static<TObject<typeof agentFields>>,
  model: string | undefined,
  { thinking, timeoutSeconds, trackAsJob }: AgentSettings,
) {
  return {
    message: fields.message,
    wakeMode: fields.wakeMode ?? "now",
    deliver: fields.deliver ?? true,
    channel: fields.channel ?? "last",
    to: fields.to ?? null,
    model: model ?? null,
    thinking: fields.thinking ?? thinking ?? null,
    timeoutSeconds: fields.timeoutSeconds ?? timeoutSeconds,
    trackAsJob,
    ...(fields.agentId !== undefined && { agentId: fields.agentId }),
  };
}

/** Returns what is wrong with a requested time limit, worded to follow the field's name, or null. */
const timeoutFault = (
  seconds: number | undefined,
  { maxTimeoutSeconds }: Pick<Config["hooks"], "maxTimeoutSeconds">,
): string | null =>
  seconds !== undefined && seconds > maxTimeoutSeconds
    ? `must be at most ${maxTimeoutSeconds} (hooks.maxTimeoutSeconds)`
    : null;

/**
 * Returns the run that a mapping requests. A run without a sessionKey gets a session of its own.
 * @param result the result of the mapping and its transform
 * @param transformed the outcome of the transform
 * @throws AppError mapping_failed or transform_failed if the agent, the model, the time limit, the recipient or the session key is not allowed
 */
export function mappedRequest(
  result: MappedAgent,
  mapping: Mapping,
  transformed: TransformOutcome,
  hooks: Pick<Config["hooks"], "defaultSessionKey" | "allowedSessionKeyPrefixes" | "maxTimeoutSeconds">,
  agents: Config["agents"],
) {
  const { trackAsJob, instructions, allowUnsafeExternalContent } = mapping;
  const invalidField = (field: string, fault: string) =>
    new AppError(errorCodeFor(field, transformed), { detail: `${field} ${fault}.` });
  const settings = agentSettings(agents, result.agentId);
  if (!settings) throw invalidField("agentId", agentFault(agents, result.agentId) ?? "");
  const resolved = resolveModel(settings, result.model);
  if (!resolved.ok) throw invalidField("model", `must be one of ${resolved.allowed.join(", ")}`);
  // The operator set the mapping's own time limit, so the maximum for senders does not apply to it.
  const isOwnTimeout = result.timeoutSeconds === mapping.timeoutSeconds;
  const timeout = isOwnTimeout ? null : timeoutFault(result.timeoutSeconds, hooks);
  if (timeout) throw invalidField("timeoutSeconds", timeout);
  const recipient = result.to === undefined ? undefined : recipientFault(result.channel ?? "last", result.to);
  if (recipient !== undefined) throw invalidField("to", recipient);
  const sessionKey = mappedSession(result, mapping, hooks);
  const prefixes = hooks.allowedSessionKeyPrefixes;
  const fault = sessionKey === undefined ? null : sessionKeyFault(sessionKey, prefixes, mapping.key);
  if (fault) throw invalidField("sessionKey", fault);
  const request = {
    ...agentRequest(result, resolved.model, settings),
    ...(trackAsJob !== undefined && { trackAsJob }),
    ...(instructions !== undefined && { instructions }),
    allowUnsafe: allowUnsafeExternalContent,
  };
  return { sessionKey, request };
}

/** Returns the session of the run that a mapping requests; undefined if the run gets a session of its own. */
export const mappedSession = (
  { sessionKey }: MappedAgent,
  mapping: Mapping,
  hooks: Pick<Config["hooks"], "defaultSessionKey">,
): string | undefined => sessionKey ?? defaultKeyOf(mapping, hooks);
