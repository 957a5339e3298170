import { MAIN_SESSION, sessionKeyFault } from "../../shared/config/formats/sessionKey.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { AppError, invalidField } from "../../shared/errors.ts";
import { toJson } from "../../shared/json.ts";
import {
  defaultKeyOf,
  expand,
  type HookCall,
  itemsOf,
  type Mapping,
  mappedName,
  mappedSessionKey,
  scopeOf,
} from "./mapping.ts";

/** Maximum items of a `forEach`, and maximum characters of the rest of the body times the items: each run reads it. */
const MAX_ITEMS = 1_000;
const MAX_AROUND_CHARS = 32 * 1024 * 1024;
/** How many times a request that becomes several runs may be repeated in what these are told, and what is always allowed. */
const MAX_TOLD_FACTOR = 16;
const MIN_TOLD_CHARS = 256 * 1024;
/** Of one call as JSON, which is longer than the body where that has numbers like 1e20: MongoDB ends at 16 MiB. */
const MAX_CALL_BYTES = 15 * 1024 * 1024;
/** Of a session key. */
const MAX_KEY_CHARS = 256;

/** What is written down of a call that a mapping takes: with `forEach` a run for each item. */
interface MappedRun {
  readonly kind: Mapping["action"];
  readonly name: string;
  /** What the mapping alone says; without it the run gets a session of its own. */
  readonly sessionKey: string | undefined;
  readonly mapped: {
    readonly mapping: string;
    /** The call as JSON; null where it is stored once for all runs. */
    readonly call: string | null;
    /** The item of this run as JSON, where the call is stored once. */
    readonly item?: string;
    readonly wakeMode: Mapping["wakeMode"];
  };
}

export interface MappedRequest {
  readonly runs: readonly MappedRun[];
  /** What is stored once for several runs of a `forEach`: the call as JSON, in which that array is empty. */
  readonly shared: { readonly forEach: string; readonly call: string; readonly maxTold: number } | null;
}

/**
 * The runs that a call becomes. What its mapping and transform make of the body is for the workers to find out.
 * @param now the time of acceptance
 * @throws AppError invalid_body, body_too_large
 */
export function mappedRuns(
  mapping: Mapping,
  call: HookCall,
  hooks: Omit<Config["hooks"], "path">,
  now: Date,
): MappedRequest {
  const { forEach } = mapping;
  if (forEach === undefined) return { runs: [newRun(mapping, call, pack(call), hooks, now)], shared: null };
  const items = itemsOf(mapping, call.payload);
  checkItems(forEach, items, call, Math.min(MAX_ITEMS, hooks.maxWaitingRuns));
  const calls = expand(mapping, call) ?? [];
  const [only] = calls;
  if (only && calls.length === 1) return { runs: [newRun(mapping, only, pack(only), hooks, now)], shared: null };
  const size = pack(call).length;
  return {
    runs: calls.map((one, i) => newRun(mapping, one, { item: toJson(items?.[i]) }, hooks, now)),
    shared: {
      forEach,
      call: toJson({ ...call, payload: { ...call.payload, [forEach]: [] } }),
      maxTold: Math.max(MAX_TOLD_FACTOR * size, MIN_TOLD_CHARS),
    },
  };
}

/** Before any call is made of them: a body has room for millions. */
function checkItems(forEach: string, items: readonly unknown[] | undefined, call: HookCall, most: number): void {
  if (!items) throw invalidField(forEach, "must be an array: the mapping makes a run of each of its items");
  if (items.length > most) throw invalidField(forEach, `must have at most ${most} items: send the rest by themselves`);
  const around = toJson({ ...call, payload: { ...call.payload, [forEach]: [] } }).length;
  if (around * items.length > MAX_AROUND_CHARS) {
    throw invalidField(forEach, "has too many items for what stands around it: each run reads the rest of the body");
  }
}

function newRun(
  mapping: Mapping,
  call: HookCall,
  stored: string | { readonly item: string },
  hooks: Omit<Config["hooks"], "path">,
  now: Date,
): MappedRun {
  const scope = scopeOf(mapping, call, now);
  const own = mappedSessionKey(mapping, scope) ?? defaultKeyOf(mapping, hooks);
  const isUsable =
    own !== undefined && isShort(own) && !sessionKeyFault(own, hooks.allowedSessionKeyPrefixes, mapping.key);
  return {
    kind: mapping.action,
    name: mappedName(mapping, scope),
    // one that may not be used fails the run when the worker comes to it
    sessionKey: mapping.action === "wake" ? MAIN_SESSION : isUsable ? own : undefined,
    mapped: {
      mapping: mapping.key,
      ...(typeof stored === "string" ? { call: stored } : { call: null, ...stored }),
      wakeMode: mapping.wakeMode,
    },
  };
}

/** As the worker counts it: in characters, of which one takes two units at most. */
const isShort = (key: string): boolean => key.length <= 2 * MAX_KEY_CHARS && [...key].length <= MAX_KEY_CHARS;

function pack(call: HookCall): string {
  const text = toJson(call);
  if (Buffer.byteLength(text) <= MAX_CALL_BYTES) return text;
  throw new AppError("body_too_large", { detail: `The body is larger than ${MAX_CALL_BYTES} bytes as it is kept.` });
}
