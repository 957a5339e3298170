import { Ajv, type ValidateFunction } from "ajv";
import { describeFault, faultyField } from "../../shared/describeFault.ts";
import { AppError } from "../../shared/errors.ts";
import { isObject } from "../../shared/text/json.ts";
import { parseTemplate, renderTemplate, type TemplateScope } from "../../shared/text/template.ts";
import { MappedAgent, MappedWake } from "../mappings/fields.ts";
import { type JobTemplate, type MappedReport, ReportOverrides, renderJob } from "../mappings/mappedJob.ts";
import { type HookCall, type Mapping, renderName, renderSessionKey, templateScope } from "../mappings/mapping.ts";
import type { TransformOutcome } from "../transforms/transforms.ts";
import { missingValues } from "./missingValues.ts";

const ajv = new Ajv({ verbose: true, strict: false, strictNumbers: true });
const isAgent = ajv.compile<MappedAgent>(MappedAgent);
const isReport = ajv.compile<ReportOverrides>(ReportOverrides);
const isWake = ajv.compile<MappedWake>(MappedWake);

/** The reports of a job that a call of a mapping requests. */
export interface MappedJob {
  readonly kind: "job";
  /** Name of the record of the call, for people. */
  readonly name: string;
  readonly reports: readonly MappedReport[];
}

/**
 * Returns the run or event that a call of a mapping requests: the mapping's rendered fields, overridden by the transform's
 * result, validated together. Returns null if the transform drops the request.
 * @param now the time of acceptance
 * @throws AppError mapping_failed, transform_failed; the detail names the field
 */
export function renderCall(
  mapping: Mapping,
  call: HookCall,
  now: Date,
  transformed: TransformOutcome,
): MappedAgent | MappedWake | MappedJob | null {
  if (transformed.kind === "dropped") return null;
  const overrides = transformed.kind === "result" ? checkObject(transformed.value) : {};
  const { kind = mapping.action } = overrides;
  const scope = templateScope(mapping, call, now);
  const missing = () => missingValues(mapping, call, now, transformed).map(({ path }) => path);
  if (kind === "job" && mapping.job) {
    const own = check(
      isReport,
      overrides,
      () => "transform_failed",
      () => [],
    );
    const reports = withMissing(missing, () => renderJob(mapping.job as JobTemplate, mapping.idPrefix, scope, own));
    return reports.length === 0 ? null : { kind, name: renderName(mapping, scope), reports };
  }
  if (kind !== "agent" && kind !== "wake") {
    throw new AppError("transform_failed", {
      detail: `kind must be one of agent, wake${mapping.job ? ", job" : ""}.`,
    });
  }
  const result = { kind, ...renderFields(mapping, scope, kind), ...overrides };
  const codeFor = (field: string) => errorCodeFor(field, transformed);
  checkSize(result, codeFor);
  if (kind === "wake") return check(isWake, result, codeFor, missing);
  return check(isAgent, result, codeFor, missing);
}

function checkObject(value: unknown): Record<string, unknown> {
  if (isObject(value)) {
    // An undefined field overrides nothing.
    return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
  }
  throw new AppError("transform_failed", { detail: "The transform must return an object, null or undefined." });
}

/** Returns the error code for an invalid field: `transform_failed` if the transform set the field. */
export function errorCodeFor(field: string, transformed: TransformOutcome): "transform_failed" | "mapping_failed" {
  const overrides = transformed.kind === "result" ? (transformed.value as Readonly<Record<string, unknown>>) : {};
  return Object.hasOwn(overrides, field) && overrides[field] !== undefined ? "transform_failed" : "mapping_failed";
}

/** Maximum size of a message or text: MongoDB's limit for a document is 16 MiB. */
const MAX_TEXT_MIB = 15;

type CodeFor = (field: string) => ReturnType<typeof errorCodeFor>;

function checkSize(result: Readonly<Record<string, unknown>>, codeFor: CodeFor): void {
  for (const field of ["message", "text"]) {
    const { [field]: text } = result;
    if (typeof text !== "string" || Buffer.byteLength(text) <= MAX_TEXT_MIB * 1024 * 1024) continue;
    throw new AppError(codeFor(field), { detail: `${field} is larger than ${MAX_TEXT_MIB} MiB.` });
  }
}

const WHOLE_BODY = parseTemplate("{{payload}}");

/** Renders the fields of the mapping itself, without the transform's result. */
function renderFields(mapping: Mapping, scope: TemplateScope, kind: "agent" | "wake"): object {
  const { templates, deliver, channel, agentId, model, thinking, timeoutSeconds, wakeMode } = mapping;
  const text = (template: keyof typeof templates) => {
    const parsed = templates[template];
    return parsed && renderTemplate(parsed, scope).text;
  };
  const wholeBody = () => renderTemplate(WHOLE_BODY, scope).text;
  const name = renderName(mapping, scope);
  if (kind === "wake") return defined({ name, text: text("textTemplate") ?? wholeBody(), mode: wakeMode });
  const to = text("to") || undefined;
  const sessionKey = renderSessionKey(mapping, scope);
  const message = text("messageTemplate") ?? wholeBody();
  return defined({
    name,
    message,
    sessionKey,
    wakeMode,
    deliver,
    channel,
    to,
    agentId,
    model,
    thinking,
    timeoutSeconds,
  });
}

const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** @param cause returns the placeholders without a value, which may be why a field is invalid */
function check<T>(validate: ValidateFunction<T>, value: unknown, codeFor: CodeFor, cause: () => readonly string[]): T {
  if (validate(value)) return value;
  const [error] = validate.errors ?? [];
  if (!error) throw new Error("ajv reported a failed validation without an error");
  const field = faultyField(error) ?? error.instancePath.split("/")[1] ?? "kind";
  const detail = `${field || '""'} ${describeFault(error)}`;
  const sentence = detail.endsWith("?") ? detail : `${detail}.`;
  throw new AppError(codeFor(field), { detail: describeMissing(sentence, cause()) });
}

/** Adds a line that only those who may read runs get, since it shows parts of the configuration. */
const describeMissing = (sentence: string, missing: readonly string[]): string =>
  missing.length > 0 ? `${sentence}\nPlaceholders without a value: ${missing.join(", ")}.` : sentence;

/** Adds the placeholders without a value to the error of a mapping, which may be why. */
function withMissing<T>(missing: () => readonly string[], render: () => T): T {
  try {
    return render();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, { detail: describeMissing(error.message, missing()) });
  }
}
