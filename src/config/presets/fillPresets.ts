import { isObject } from "../../shared/text/json.ts";
import type { Json } from "../fill.ts";
import { SENDER_PRESETS, type SenderPreset } from "./senders.ts";

/**
 * Adds to each mapping with a `preset` the keys that it does not set itself, in place. Faulty values are left for the schema to
 * report.
 */
export function fillPresets({ hooks }: Json): void {
  if (!isObject(hooks) || !Array.isArray(hooks.mappings)) return;
  hooks.mappings = hooks.mappings.map((mapping: unknown) => {
    const name = isObject(mapping) ? mapping.preset : undefined;
    return isSender(name) ? withPreset(mapping as Json, name, SENDER_PRESETS[name]) : mapping;
  });
}

const isSender = (name: unknown): name is keyof typeof SENDER_PRESETS =>
  typeof name === "string" && Object.hasOwn(SENDER_PRESETS, name);

function withPreset(mapping: Json, name: string, { auth, when, ...keys }: SenderPreset): Json {
  const { match = {}, auth: own = {} } = mapping;
  // Another kind of authentication than the preset's has other keys.
  const isOtherKind = isObject(own) && own.type !== undefined && own.type !== auth.type;
  return {
    ...(mapping.action === "wake" ? wakeKeys(keys) : keys),
    ...mapping,
    match: isObject(match) ? { path: name, when, ...match } : match,
    auth: isObject(own) && !isOtherKind ? { ...auth, ...own } : own,
  };
}

/** Returns the keys of a preset that an event of the main session has. */
const wakeKeys = ({ messageTemplate, sessionKey: _, ...keys }: Omit<SenderPreset, "auth" | "when">): Json => ({
  ...keys,
  textTemplate: messageTemplate,
});
