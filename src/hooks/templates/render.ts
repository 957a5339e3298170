import { Ajv, type ValidateFunction } from "ajv";
import { describeFault, faultyField } from "../../shared/config/describeFault.ts";
import { parseTemplate, renderTemplate, type TemplateScope } from "../../shared/config/formats/template.ts";
import { AppError } from "../../shared/errors.ts";
import { isObject } from "../../shared/json.ts";
import { MappedAgent, MappedWake } from "../mappings/fields.ts";
import { type HookCall, type Mapping, mappedName, mappedSessionKey, scopeOf } from "../mappings/mapping.ts";
import type { TransformOutcome } from "../transforms/transforms.ts";

const ajv = new Ajv({ verbose: true, strict: false, strictNumbers: true });
const isAgent = ajv.compile<MappedAgent>(MappedAgent);
const isWake = ajv.compile<MappedWake>(MappedWake);

/**
 * What a call of a mapping asks for: the mapping's own words, over them what its transform said, checked as a whole. Null
 * when the transform drops the request.
 * @param now the time of acceptance
 * @throws AppError mapping_failed, transform_failed: they name the field
 */
export function renderCall(
  mapping: Mapping,
  call: HookCall,
  now: Date,
  transformed: TransformOutcome,
): MappedAgent | MappedWake | null {
  if (transformed.kind === "dropped") return null;
  const overrides = transformed.kind === "result" ? checkObject(transformed.value) : {};
  const { kind = mapping.action } = overrides;
  if (kind !== "agent" && kind !== "wake") {
    throw new AppError("transform_failed", { detail: "kind must be one of agent, wake." });
  }
  const scope = scopeOf(mapping, call, now);
  const result = { kind, ...own(mapping, scope, kind), ...overrides };
  const blame = (field: string) => blameFor(field, transformed);
  checkSize(result, blame);
  if (kind === "wake") return check(isWake, result, blame);
  return check(isAgent, result, blame);
}

function checkObject(value: unknown): Record<string, unknown> {
  if (isObject(value)) {
    // what is undefined says nothing
    return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
  }
  throw new AppError("transform_failed", { detail: "The transform must return an object, null or undefined." });
}

/** Which error a fault of a field is: the transform's where that has said something of it. */
export function blameFor(field: string, transformed: TransformOutcome): "transform_failed" | "mapping_failed" {
  const said = transformed.kind === "result" ? (transformed.value as Readonly<Record<string, unknown>>) : {};
  return Object.hasOwn(said, field) && said[field] !== undefined ? "transform_failed" : "mapping_failed";
}

/** Of a message or text: a document of MongoDB's ends at 16 MiB. */
const MAX_TEXT_MIB = 15;

type Blame = (field: string) => ReturnType<typeof blameFor>;

function checkSize(result: Readonly<Record<string, unknown>>, blame: Blame): void {
  for (const field of ["message", "text"]) {
    const { [field]: text } = result;
    if (typeof text !== "string" || Buffer.byteLength(text) <= MAX_TEXT_MIB * 1024 * 1024) continue;
    throw new AppError(blame(field), { detail: `${field} is larger than ${MAX_TEXT_MIB} MiB.` });
  }
}

const WHOLE_BODY = parseTemplate("{{payload}}");

/** What the mapping says by itself. */
function own(mapping: Mapping, scope: TemplateScope, kind: Mapping["action"]): object {
  const { templates, deliver, channel, model, thinking, timeoutSeconds, wakeMode } = mapping;
  const text = (template: keyof typeof templates) => {
    const parsed = templates[template];
    return parsed && renderTemplate(parsed, scope).text;
  };
  const whole = () => renderTemplate(WHOLE_BODY, scope).text;
  const name = mappedName(mapping, scope);
  if (kind === "wake") return defined({ name, text: text("textTemplate") ?? whole(), mode: wakeMode });
  const to = text("to") || undefined;
  const sessionKey = mappedSessionKey(mapping, scope);
  const message = text("messageTemplate") ?? whole();
  return defined({ name, message, sessionKey, wakeMode, deliver, channel, to, model, thinking, timeoutSeconds });
}

const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function check<T>(validate: ValidateFunction<T>, value: unknown, blame: Blame): T {
  if (validate(value)) return value;
  const [error] = validate.errors ?? [];
  if (!error) throw new Error("a check that fails says why");
  const field = faultyField(error) ?? error.instancePath.split("/")[1] ?? "kind";
  const detail = `${field || '""'} ${describeFault(error)}`;
  throw new AppError(blame(field), { detail: detail.endsWith("?") ? detail : `${detail}.` });
}
