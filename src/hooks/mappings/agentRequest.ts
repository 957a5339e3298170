import type { Static, TObject } from "typebox";
import { resolveModel } from "../../shared/config/formats/modelList.ts";
import { sessionKeyFault } from "../../shared/config/formats/sessionKey.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { AppError } from "../../shared/errors.ts";
import { blameFor } from "../templates/render.ts";
import type { TransformOutcome } from "../transforms/transforms.ts";
import type { agentFields, MappedAgent } from "./fields.ts";
import { defaultKeyOf, type Mapping } from "./mapping.ts";

type Defaults = Config["agents"]["defaults"];

/** What is said of a run, with what holds where nothing is said. @param model already resolved */
export function agentRequest(
  fields: Static<TObject<typeof agentFields>>,
  model: string | undefined,
  { thinking, timeoutSeconds, trackAsJob }: Defaults,
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
  };
}

/** Returns what is wrong with the time that a sender wants for a turn, to be read after the field's name; else null. */
const timeoutFault = (
  seconds: number | undefined,
  { maxTimeoutSeconds }: Pick<Config["hooks"], "maxTimeoutSeconds">,
): string | null =>
  seconds !== undefined && seconds > maxTimeoutSeconds
    ? `must be at most ${maxTimeoutSeconds} (hooks.maxTimeoutSeconds)`
    : null;

/**
 * The run that a mapping asks for; without a sessionKey it is to have one of its own.
 * @param transformed what the transform made of the call
 * @throws AppError mapping_failed, transform_failed when the model or the session key is not allowed
 */
export function mappedRequest(
  made: MappedAgent,
  mapping: Mapping,
  transformed: TransformOutcome,
  hooks: Pick<Config["hooks"], "defaultSessionKey" | "allowedSessionKeyPrefixes" | "maxTimeoutSeconds">,
  defaults: Defaults,
) {
  const { trackAsJob, instructions, allowUnsafeExternalContent } = mapping;
  const unusable = (field: string, fault: string) =>
    new AppError(blameFor(field, transformed), { detail: `${field} ${fault}.` });
  const resolved = resolveModel(defaults, made.model);
  if (!resolved.ok) throw unusable("model", `must be one of ${resolved.allowed.join(", ")}`);
  // the mapping's own time is the operator's word
  const timeout = made.timeoutSeconds === mapping.timeoutSeconds ? null : timeoutFault(made.timeoutSeconds, hooks);
  if (timeout) throw unusable("timeoutSeconds", timeout);
  const sessionKey = made.sessionKey ?? defaultKeyOf(mapping, hooks);
  const prefixes = hooks.allowedSessionKeyPrefixes;
  const fault = sessionKey === undefined ? null : sessionKeyFault(sessionKey, prefixes, mapping.key);
  if (fault) throw unusable("sessionKey", fault);
  const request = {
    ...agentRequest(made, resolved.model, defaults),
    ...(trackAsJob !== undefined && { trackAsJob }),
    ...(instructions !== undefined && { instructions }),
    allowUnsafe: allowUnsafeExternalContent,
  };
  return { sessionKey, request };
}
