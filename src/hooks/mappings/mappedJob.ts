import Type, { type Static } from "typebox";
import type { Config } from "../../config/config.ts";
import type { Frozen } from "../../config/nodes.ts";
import { AppError } from "../../shared/errors.ts";
import { isObject } from "../../shared/text/json.ts";
import { isPageUrl } from "../../shared/text/pageUrl.ts";
import {
  lookUp,
  parsePath,
  parseTemplate,
  type Reference,
  renderTemplate,
  type Template,
  type TemplateScope,
} from "../../shared/text/template.ts";
import { IDENTIFIER_PATTERN, MAX_IDENTIFIER_LENGTH } from "../../shared/text/text.ts";

type JobConfig = NonNullable<Config["hooks"]["mappings"][number]["job"]>;
type Status = "running" | "completed" | "failed";

/** The compiled `job` of a mapping. */
export interface JobTemplate {
  readonly id: Template;
  /** Whether a request must have a value for each part of the id. Of a preset's ids one value is enough. */
  readonly needsWholeId: boolean;
  readonly name: Template | undefined;
  readonly message: Template | undefined;
  readonly progress: Template | undefined;
  readonly output: Reference | undefined;
  readonly links: readonly { readonly title: Template; readonly url: Template }[];
  readonly step:
    | (Frozen<Pick<NonNullable<JobConfig["step"]>, "from" | "to" | "failJob">> & {
        readonly key: Template;
        readonly name: Template | undefined;
        readonly forEach: Reference | undefined;
      })
    | undefined;
  /** The path, in an item of `step.forEach`, of the number of its try. */
  readonly attempt: Reference | undefined;
  readonly statusPaths: readonly Reference[];
  readonly statuses: ReadonlyMap<string, Status>;
}

/** The report of a job or a step that a request makes. A missing field stays as it is. */
export interface MappedReport {
  readonly jobId: string;
  /** Grows when the sender tries a part of the job again: the report follows all of former tries. 0 for a report of a step. */
  readonly attempt: number;
  readonly name: string | null;
  readonly step: {
    readonly key: string;
    readonly name: string;
    readonly from?: number;
    readonly to?: number;
    readonly failJob: boolean;
  } | null;
  readonly status: Status | null;
  readonly progress: number | null;
  readonly message: string | null;
  /** Null without any, which leaves those that there are. */
  readonly links: { title: string; url: string }[] | null;
  /** Set for what is completed. */
  readonly output: Readonly<Record<string, unknown>> | null;
}

/** The fields of a report that a transform sets. */
export const ReportOverrides = Type.Object(
  {
    kind: Type.Optional(Type.Literal("job")),
    id: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: IDENTIFIER_PATTERN })),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 })),
    status: Type.Optional(Type.Enum(["running", "completed", "failed"])),
    progress: Type.Optional(Type.Number({ minimum: 0, maximum: 99 })),
    message: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536 })),
    output: Type.Optional(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" })),
  },
  { additionalProperties: false },
);
export type ReportOverrides = Static<typeof ReportOverrides>;

/** Maximum characters of a name and of a message. Longer ones are cut. */
const MAX_NAME = 1_024;
const MAX_MESSAGE = 65_536;
const MAX_LINK_TITLE = 200;
/** Maximum items of `step.forEach`. */
const MAX_ITEMS = 1_000;
/** Maximum number of a try. Orders of reports, which are a few times larger, stay whole numbers. */
const MAX_ATTEMPT = 2 ** 50;
const IDENTIFIER = new RegExp(IDENTIFIER_PATTERN);

/** @throws TemplateError if the configuration was not checked and has an invalid template */
export function compileJob(
  config: JobConfig,
  { isPreset, attempt }: { readonly isPreset: boolean; readonly attempt: string | undefined },
): JobTemplate {
  const { id, name, message, progress, output, step, status, links = [] } = config;
  const template = (text: string | undefined) => (text === undefined ? undefined : parseTemplate(text));
  const path = (text: string | undefined) => (text === undefined ? undefined : parsePath(text));
  const words = (["running", "completed", "failed"] as const).flatMap((one) =>
    (status?.[one] ?? []).map((word) => [word, one] as const),
  );
  return {
    id: parseTemplate(id),
    needsWholeId: !isPreset,
    name: template(name),
    message: template(message),
    progress: template(progress),
    output: path(output),
    links: links.map(({ title, url }) => ({ title: parseTemplate(title), url: parseTemplate(url) })),
    step: step && {
      ...step,
      key: parseTemplate(step.key),
      name: template(step.name),
      forEach: path(step.forEach),
    },
    attempt: path(attempt),
    statusPaths: [status?.path ?? []].flat().map((one) => parsePath(one)),
    statuses: new Map(words),
  };
}

/** Returns the references of the templates and paths. */
export const referencesOf = ({
  id,
  name,
  message,
  progress,
  output,
  links,
  step,
  statusPaths,
}: JobTemplate): Reference[] => [
  ...[id, name, message, progress, step?.key, step?.name, ...links.flatMap(({ title, url }) => [title, url])].flatMap(
    (template) => (template ?? []).filter((part) => typeof part !== "string"),
  ),
  ...[output, step?.forEach].flatMap((one) => one ?? []),
  ...statusPaths,
];

/**
 * Returns the reports that a request makes: its own, and one for each item of `step.forEach`. A report whose status no list names
 * is left out.
 * @throws AppError mapping_failed
 */
export function renderJob(
  job: JobTemplate,
  prefix: string,
  scope: TemplateScope,
  { id: ownId, ...own }: ReportOverrides = {},
): MappedReport[] {
  const list = job.step?.forEach && lookUp(job.step.forEach, scope);
  const items = Array.isArray(list) ? list : [];
  if (items.length > MAX_ITEMS) throw failed(`step.forEach has more than ${MAX_ITEMS} items.`);
  const id =
    ownId ??
    identifier(job.id, scope, { field: "id", max: MAX_IDENTIFIER_LENGTH - prefix.length, isWhole: job.needsWholeId });
  if (id === null) throw failed("id is empty: the request has no value for a part of job.id.");
  const reportsOfItems = items.map((value) => renderReport(job, prefix + id, { ...scope, item: { value } }));
  const ofItems = reportsOfItems.filter((report) => report?.step); // without its key an item is not about the job either
  const whole = renderReport(job, prefix + id, scope, own);
  return [whole && { ...whole, attempt: attemptOf(job, items, scope) }, ...ofItems].flatMap((report) => report ?? []);
}

/** Returns the greatest number of a try among items; 0 without any. */
function attemptOf({ attempt }: JobTemplate, items: readonly unknown[], scope: TemplateScope): number {
  const numbers = attempt ? items.map((value) => lookUp(attempt, { ...scope, item: { value } })) : [];
  return Math.max(0, ...numbers.filter((one) => Number.isInteger(one) && Number(one) <= MAX_ATTEMPT).map(Number));
}

function renderReport(
  job: JobTemplate,
  jobId: string,
  scope: TemplateScope,
  own: Omit<ReportOverrides, "id"> = {},
): MappedReport | null {
  const text = (template: Template | undefined, max: number) => {
    const rendered = template && renderTemplate(template, scope).text.trim();
    return rendered ? rendered.slice(0, max).toWellFormed() : null;
  };
  const word = job.statusPaths
    .map((path) => lookUp(path, scope))
    .find((value) => value !== undefined && value !== null);
  const status = own.status ?? (word === undefined ? null : job.statuses.get(String(word)));
  if (status === undefined) return null;
  const key = job.step
    ? identifier(job.step.key, scope, { field: "step.key", max: MAX_IDENTIFIER_LENGTH, isWhole: true })
    : null;
  return {
    jobId,
    attempt: 0,
    name: own.name ?? text(job.name, MAX_NAME),
    step:
      job.step && key !== null
        ? {
            key,
            name: text(job.step.name, MAX_NAME) ?? key,
            ...(job.step.from !== undefined && { from: job.step.from }),
            ...(job.step.to !== undefined && { to: job.step.to }),
            failJob: job.step.failJob ?? false,
          }
        : null,
    status,
    progress: status === "completed" ? 100 : (own.progress ?? progressOf(text(job.progress, MAX_NAME))),
    message: own.message ?? text(job.message, MAX_MESSAGE),
    links: linksOf(job.links, scope),
    output:
      status === "completed"
        ? (own.output ?? outputOf(job.output && lookUp(job.output, scope), String(word ?? status)))
        : null,
  };
}

/** Renders links. One whose address has a part without a value, or is no address of a page, is left out. */
function linksOf(links: JobTemplate["links"], scope: TemplateScope): MappedReport["links"] {
  const rendered = links.flatMap(({ title, url }) => {
    const { text } = renderTemplate(url, scope);
    const shown = renderTemplate(title, scope).text.trim().slice(0, MAX_LINK_TITLE).toWellFormed();
    return hasValues(url, scope, { isWhole: true }) && isPageUrl(text) ? [{ title: shown || "Link", url: text }] : [];
  });
  return rendered.length > 0 ? rendered : null;
}

/** Renders an identifier; null without the values that it needs. */
function identifier(
  template: Template,
  scope: TemplateScope,
  { field, max, isWhole }: { readonly field: string; readonly max: number; readonly isWhole: boolean },
): string | null {
  const { text } = renderTemplate(template, scope);
  if (!hasValues(template, scope, { isWhole }) || text.trim() === "") return null;
  if ([...text].length > max) throw failed(`${field} has more than ${max} characters.`);
  if (!IDENTIFIER.test(text)) throw failed(`${field} must not contain control characters.`);
  return text;
}

/**
 * Returns whether a request has a value for each placeholder of a template, or for one of them if it need not be whole.
 * Placeholders side by side are alternatives, of which one value is enough.
 */
function hasValues(template: Template, scope: TemplateScope, { isWhole }: { readonly isWhole: boolean }): boolean {
  const values: string[] = [];
  for (const [i, part] of template.entries()) {
    if (typeof part === "string") continue;
    const value = renderTemplate([part], scope).text.trim();
    if (i > 0 && typeof template[i - 1] !== "string") values.push((values.pop() ?? "") + value);
    else values.push(value);
  }
  if (isWhole) return !values.includes("");
  return values.length === 0 || values.some((value) => value !== "");
}

/** Returns the progress of what is not completed, which is never whole. */
function progressOf(text: string | null): number | null {
  if (text === null) return null;
  // Number alone reads a blank as 0 and 0x10 as 16. A small number of a body is rendered with an exponent.
  const number = /^[-+\d.e]+$/i.test(text.trim()) ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) throw failed("progress is not a number: send a percentage from 0 to 100.");
  return Math.min(99, Math.max(0, number));
}

function outputOf(value: unknown, word: string): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return { status: word };
  return isObject(value) ? value : { value };
}

const failed = (detail: string) => new AppError("mapping_failed", { detail: `job.${detail}` });
