import type { Config } from "../../config/config.ts";
import { AppError, invalidField } from "../../shared/errors.ts";
import { MAIN_SESSION, sessionKeyFault } from "../../shared/sessionKey.ts";
import { toJson } from "../../shared/text/json.ts";
import {
  defaultKeyOf,
  expandItems,
  type HookCall,
  type Mapping,
  renderName,
  renderSessionKey,
  templateScope,
  wantedItems,
  withItems,
} from "./mapping.ts";

/** Maximum items of a `forEach`. */
const MAX_ITEMS = 1_000;
/** Maximum number of items times the characters of the rest of the body: each run reads the rest. */
const MAX_SURROUNDING_CHARS = 32 * 1024 * 1024;
/**
 * Maximum characters of all messages made from one request with several runs: a multiple of the request's size, but at
 * least MIN_MESSAGE_CHARS.
 */
const MAX_MESSAGE_FACTOR = 16;
const MIN_MESSAGE_CHARS = 256 * 1024;
/** Maximum size of a call as JSON, which exceeds the body if that has numbers like 1e20. MongoDB's limit is 16 MiB. */
const MAX_CALL_BYTES = 15 * 1024 * 1024;
/** Maximum length of a session key. */
const MAX_KEY_CHARS = 256;

/** The stored form of a run that a call starts; with `forEach` there is one for each item. */
interface MappedRun {
  readonly kind: Mapping["action"];
  readonly name: string;
  /** The key from the mapping alone. If it is undefined, the run gets a session of its own. */
  readonly sessionKey: string | undefined;
  readonly mapped: {
    readonly mapping: string;
    /** The call as JSON; null if it is stored once for all runs. */
    readonly call: string | null;
    /** The item of this run as JSON, if the call is stored once for all runs. */
    readonly item?: string;
    readonly wakeMode: Mapping["wakeMode"];
  };
}

export interface MappedRequest {
  readonly runs: readonly MappedRun[];
  /**
   * The part that several runs of a `forEach` share: the call as JSON in which that array is empty, and the maximum number
   * of characters of all their messages. Null for a single run.
   */
  readonly shared: { readonly forEach: string; readonly call: string; readonly maxPromptChars: number } | null;
}

/**
 * Returns the runs that a call starts. Workers render the templates and run the transform later.
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
  const items = wantedItems(mapping, call, now);
  checkItems(forEach, items, call, Math.min(MAX_ITEMS, hooks.maxWaitingRuns));
  const calls = expandItems(mapping, call, now) ?? [];
  const [only] = calls;
  if (only && calls.length === 1) return { runs: [newRun(mapping, only, pack(only), hooks, now)], shared: null };
  const size = pack(call).length;
  return {
    runs: calls.map((itemCall, i) => newRun(mapping, itemCall, { item: toJson(items?.[i]) }, hooks, now)),
    shared: {
      forEach,
      call: toJson(withItems(call, forEach, [])),
      maxPromptChars: Math.max(MAX_MESSAGE_FACTOR * size, MIN_MESSAGE_CHARS),
    },
  };
}

/** Checks the items before they become calls, because a body can hold millions of items. */
function checkItems(forEach: string, items: readonly unknown[] | undefined, call: HookCall, maxItems: number): void {
  if (!items && forEach === ".") throw notAList();
  if (!items) throw invalidField(forEach, "must be an array: the mapping makes a run of each of its items");
  if (items.length > maxItems) {
    throw invalidField(forEach, `must have at most ${maxItems} items: send the others in further requests`);
  }
  const surroundingChars = toJson(withItems(call, forEach, [])).length;
  if (surroundingChars * items.length > MAX_SURROUNDING_CHARS) {
    throw invalidField(forEach, "has too many items for the size of the rest of the body, which each run reads");
  }
}

function notAList(): AppError {
  const detail = "must be an array: the mapping makes a run of each of its items";
  return new AppError("invalid_body", { detail: `The body ${detail}.`, errors: [{ pointer: "", detail }] });
}

function newRun(
  mapping: Mapping,
  call: HookCall,
  stored: string | { readonly item: string },
  hooks: Omit<Config["hooks"], "path">,
  now: Date,
): MappedRun {
  const scope = templateScope(mapping, call, now);
  const key = renderSessionKey(mapping, scope) ?? defaultKeyOf(mapping, hooks);
  const isUsable =
    key !== undefined && isShort(key) && !sessionKeyFault(key, hooks.allowedSessionKeyPrefixes, mapping.key);
  return {
    kind: mapping.action,
    name: renderName(mapping, scope),
    // A key that is not allowed is left out here; it fails the run when a worker renders it again.
    sessionKey: sessionOf(mapping, isUsable ? key : undefined),
    mapped: {
      mapping: mapping.key,
      ...(typeof stored === "string" ? { call: stored } : { call: null, ...stored }),
      wakeMode: mapping.wakeMode,
    },
  };
}

/** A report of a job has no session: its own is never used. */
const sessionOf = ({ action }: Mapping, key: string | undefined): string | undefined =>
  action === "wake" ? MAIN_SESSION : action === "job" ? undefined : key;

/** Counts code points, as the worker does. Each takes at most two UTF-16 units. */
const isShort = (key: string): boolean => key.length <= 2 * MAX_KEY_CHARS && [...key].length <= MAX_KEY_CHARS;

function pack(call: HookCall): string {
  const text = toJson(call);
  if (Buffer.byteLength(text) <= MAX_CALL_BYTES) return text;
  throw new AppError("body_too_large", {
    detail: `The request is larger than ${MAX_CALL_BYTES} bytes as it is stored. Send a smaller body.`,
  });
}
