import { mappedRequest } from "../../hooks/mappings/agentRequest.ts";
import type { MappedReport } from "../../hooks/mappings/mappedJob.ts";
import { expandItems, type HookCall, type Mapping } from "../../hooks/mappings/mapping.ts";
import { compareConditions } from "../../hooks/mappings/selectMapping.ts";
import { missingValues, placeholderValues } from "../../hooks/templates/missingValues.ts";
import { renderCall } from "../../hooks/templates/render.ts";
import { AppError } from "../../shared/errors.ts";
import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import type { DryRun, RunPreview } from "../../wire/hookRequest.ts";
import type { ApiDeps } from "../deps.ts";
import type { SelectedMapping } from "./replay.ts";

/** Maximum runs of a dry run and reports of each that are shown, and the maximum characters of each message. */
const MAX_RUNS = 10;
const MAX_REPORTS = 100;
const MAX_MESSAGE_CHARS = 100_000;

const NOTHING: RunPreview = {
  kind: null,
  name: null,
  message: null,
  sessionKey: null,
  wakeMode: null,
  deliver: null,
  channel: null,
  to: null,
  model: null,
  reports: null,
  error: null,
  missingValues: [],
  values: [],
};

/**
 * Returns what a mapping makes of a call, without its transform and without a trace: nothing is stored or sent.
 */
export function dryRun(
  deps: Pick<ApiDeps, "hooks" | "agents" | "clock">,
  { mapping, considered, reason, isNamed = false }: SelectedMapping,
  call: HookCall,
): DryRun {
  const now = deps.clock.now();
  const calls = mapping ? expandItems(mapping, call, now) : [];
  const missing = { ...NOTHING, error: { code: "invalid_body", message: noList(mapping) } };
  return {
    dryRun: true,
    mapping: mapping?.key ?? null,
    reason,
    considered: considered.map((one) => ({
      mapping: one.mapping.key,
      unmet: one.unmet,
      reason: one.reason,
      conditions: isNamed ? [] : compareConditions(one.mapping, call, now),
    })),
    transform: mapping?.transform?.module ?? null,
    runCount: calls?.length ?? 0,
    runs:
      mapping && calls ? calls.slice(0, MAX_RUNS).map((one) => preview(deps, mapping, one)) : calls ? [] : [missing],
  };
}

const noList = (mapping: Mapping | undefined): string =>
  `The body has no list ${mapping?.forEach}, which is the forEach of the mapping.`;

const shown = ({ attempt: _, ...report }: MappedReport): NonNullable<RunPreview["reports"]>[number] => ({
  ...report,
  message: report.message?.slice(0, MAX_MESSAGE_CHARS) ?? null,
});

function preview(
  { hooks, agents, clock }: Pick<ApiDeps, "hooks" | "agents" | "clock">,
  mapping: Mapping,
  call: HookCall,
): RunPreview {
  try {
    const made = renderCall(mapping, call, clock.now(), { kind: "kept" });
    if (made === null) return NOTHING;
    const name = made.name ?? mapping.key;
    const missing = [...missingValues(mapping, call, clock.now(), { kind: "kept" })];
    const read = { ...NOTHING, name, missingValues: missing, values: placeholderValues(mapping, call, clock.now()) };
    if (made.kind === "job") return { ...read, kind: "job", reports: made.reports.slice(0, MAX_REPORTS).map(shown) };
    if (made.kind === "wake") {
      const message = made.text.slice(0, MAX_MESSAGE_CHARS);
      return { ...read, kind: "wake", message, sessionKey: MAIN_SESSION, wakeMode: made.mode ?? "now" };
    }
    const { sessionKey = null, request } = mappedRequest(made, mapping, { kind: "kept" }, hooks, agents);
    const { wakeMode, deliver, channel, to, model } = request;
    const message = request.message.slice(0, MAX_MESSAGE_CHARS);
    return { ...read, kind: "agent", message, sessionKey, wakeMode, deliver, channel, to, model };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...NOTHING, error: { code: error.code, message: error.message } };
  }
}
