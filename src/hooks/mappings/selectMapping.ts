import { isObject } from "../../shared/text/json.ts";
import { nearest } from "../../shared/text/nearest.ts";
import { type HookCall, type Mapping, templateScope, wantedItems } from "./mapping.ts";
import {
  type ComparedCondition,
  compareCondition,
  describeUnmet,
  isAboutItems,
  shortJson,
  unmetCondition,
} from "./when.ts";

/** A mapping that was compared with a request, in the order of the configuration. */
export interface Considered {
  readonly mapping: Mapping;
  /** The path of the condition that the request does not meet, or `match.source`; null for the mapping that takes it. */
  readonly unmet: string | null;
  /** The condition with the value of the request, for people; null for the mapping that takes it. */
  readonly reason: string | null;
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
    const unmet = findUnmet(mapping, call, now);
    considered.push({ mapping, unmet: unmet?.path ?? null, reason: unmet?.reason ?? null });
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

interface Unmet {
  readonly path: string;
  readonly reason: string;
}

function findUnmet(mapping: Mapping, call: HookCall, now: Date): Unmet | null {
  const { match, conditions } = mapping;
  const source = isObject(call.payload) ? call.payload.source : undefined;
  if (match?.source !== undefined && match.source !== source) {
    const found = source === undefined ? "is missing" : `is ${shortJson(source)}`;
    return { path: SOURCE, reason: `source ${found}, not ${JSON.stringify(match.source)}` };
  }
  if (conditions.length === 0) return null;
  const ofRequest = conditions.filter((condition) => !isAboutItems(condition));
  const scope = templateScope(mapping, call, now);
  const unmet = unmetCondition(ofRequest, scope);
  const ofItems = conditions.find(isAboutItems);
  const first = unmet ?? (ofItems && !wantedItems(mapping, call, now)?.length ? ofItems : undefined);
  return first ? { path: first.path, reason: describeUnmet(first, scope) } : null;
}

/** Returns each condition of a mapping with the value of the request, for people: one about items is met if an item meets all of them. */
export function compareConditions(mapping: Mapping, call: HookCall, now: Date): ComparedCondition[] {
  const { match, conditions } = mapping;
  const source = isObject(call.payload) ? call.payload.source : undefined;
  const scope = templateScope(mapping, call, now);
  const hasItems = conditions.some(isAboutItems) && (wantedItems(mapping, call, now)?.length ?? 0) > 0;
  const ofSource = {
    condition: `source is ${JSON.stringify(match?.source)}`,
    isMet: match?.source === source,
    found: source === undefined ? null : shortJson(source),
  };
  return [
    ...(match?.source === undefined ? [] : [ofSource]),
    ...conditions.map((one) => {
      const compared = compareCondition(one, scope);
      return isAboutItems(one) ? { ...compared, isMet: hasItems, found: null } : compared;
    }),
  ];
}

/** Returns why mappings leave a request out, with the name of each if there are several; null without one. */
export function describeFiltered(considered: readonly Considered[], filtered: readonly Mapping[]): string | null {
  const reasons = considered.filter(({ mapping }) => filtered.includes(mapping));
  if (reasons.length < 2) return reasons[0]?.reason ?? null;
  return reasons.map(({ mapping, reason }) => `${mapping.key}: ${reason}`).join("; ");
}

/** Returns the sentence about a name that no mapping has, with the name that is spelled most like it. */
export function noMapping(mappings: readonly Mapping[], name: string): string {
  const known = nearest(
    name,
    mappings.flatMap(({ match }) => match?.path ?? []),
  );
  return `No mapping has the name ${name}.${known === undefined ? "" : ` Did you mean ${known}?`}`;
}
