import { isObject } from "../../shared/text/json.ts";
import { type HookCall, type Mapping, templateScope, wantedItems } from "./mapping.ts";
import { isAboutItems, unmetCondition } from "./when.ts";

/** A mapping that was compared with a request, in the order of the configuration. */
export interface Considered {
  readonly mapping: Mapping;
  /** The path of the condition that the request does not meet, or `match.source`; null for the mapping that takes it. */
  readonly unmet: string | null;
}

/** The result of `selectMapping`. */
export interface Selection {
  /** The first mapping whose `match` fits the request. */
  readonly mapping: Mapping | undefined;
  /** The mappings before it, or all of them, that fit but for their `match.when`. */
  readonly filtered: readonly Mapping[];
  readonly considered: readonly Considered[];
}

/**
 * Selects the mapping that takes a request.
 * @param candidates the mappings with the name of the request
 */
export function selectMapping(candidates: readonly Mapping[], call: HookCall, now: Date): Selection {
  const considered: Considered[] = [];
  for (const mapping of candidates) {
    const unmet = unmetPath(mapping, call, now);
    considered.push({ mapping, unmet });
    if (unmet === null) break;
  }
  const last = considered.at(-1);
  return {
    mapping: last?.unmet === null ? last.mapping : undefined,
    filtered: considered.flatMap(({ mapping, unmet }) => (unmet === null || unmet === SOURCE ? [] : [mapping])),
    considered,
  };
}

const SOURCE = "match.source";

function unmetPath(mapping: Mapping, call: HookCall, now: Date): string | null {
  const { match, conditions } = mapping;
  const source = isObject(call.payload) ? call.payload.source : undefined;
  if (match?.source !== undefined && match.source !== source) return SOURCE;
  if (conditions.length === 0) return null;
  const ofRequest = conditions.filter((condition) => !isAboutItems(condition));
  const unmet = unmetCondition(ofRequest, templateScope(mapping, call, now));
  if (unmet) return unmet.path;
  const ofItems = conditions.find(isAboutItems);
  return ofItems && !wantedItems(mapping, call, now)?.length ? ofItems.path : null;
}
