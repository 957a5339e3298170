import type { JobFilter } from "../../../client/client.ts";

/*
 * The page's address holds the filters of the list of jobs as query parameters with the API's names. The additional
 * parameter `created` is a time span before now.
 */
const TIMES = ["createdFrom", "createdBefore", "updatedFrom", "updatedBefore"];
const TEXTS = ["search", "name", "jobId", ...TIMES];
const STATUSES = ["running", "completed", "failed"];
const FLAGS = ["stale", "cancelled"];
const METADATA = "metadata.";

/** The values of `created`, with their length in seconds. */
export const SPANS: Readonly<Record<string, { readonly title: string; readonly seconds: number }>> = {
  "15m": { title: "Last 15 minutes", seconds: 900 },
  "1h": { title: "Last hour", seconds: 3_600 },
  "24h": { title: "Last 24 hours", seconds: 86_400 },
  "7d": { title: "Last 7 days", seconds: 604_800 },
  "30d": { title: "Last 30 days", seconds: 2_592_000 },
};

/** Converts the address's query to the API's filter, without the parameters that the API does not have. */
export function toFilter(place: URLSearchParams, now: number): JobFilter {
  const filter: Record<string, unknown> = {};
  const metadata: Record<string, string[]> = {};
  for (const [name, value] of place) {
    if (value === "") continue;
    if (name.startsWith(METADATA)) metadata[name.slice(METADATA.length)] = place.getAll(name);
    else if (TEXTS.includes(name)) filter[name] = value;
  }
  const status = place.getAll("status").filter((one) => STATUSES.includes(one));
  if (status.length > 0) filter.status = status;
  for (const name of FLAGS) {
    const value = place.get(name);
    if (value === "true" || value === "false") filter[name] = value === "true";
  }
  const start = spanStart(place, now);
  if (start) filter.createdFrom = start;
  return { ...filter, ...(Object.keys(metadata).length > 0 && { metadata }) };
}

/** Returns the start of the time span that `created` names, or undefined without one. */
export function spanStart(place: URLSearchParams, now: number): string | undefined {
  const span = SPANS[place.get("created") ?? ""];
  return span && new Date(now - span.seconds * 1_000).toISOString();
}

/** Whether the address filters the list. */
export const isFiltered = (place: URLSearchParams): boolean => Object.keys(toFilter(place, 0)).length > 0;

/** A filter other than words: one parameter of the address. */
export type Term = readonly [parameter: string, value: string];

interface Search {
  readonly words: string;
  readonly terms: readonly Term[];
}

const TOKEN = /(?:[^\s"=:]+[=:])?"(?:[^"]|"")*"?|\S+/g;
/** A pair whose value has yet to be typed. */
const INCOMPLETE = /^[^\s"=:]+[=:]"?$/;
const PAIR = /^([^\s"=:]+)([=:])(.+)$/s;

/**
 * Parses the search field. `team=sales` and `team:sales` are metadata, `status:failed` is a status, `name:Nightly` the
 * beginning of a name. `id:` takes the words up to the next pair: `id:ci/build 7` is the beginning of an id. The remaining
 * words are searched for; a key at the end without its value is left out. Values with spaces are enclosed in double quotes;
 * a double quote in a value is doubled.
 */
export function parseSearch(text: string): Search {
  const words: string[] = [];
  const terms: Term[] = [];
  let id: string[] | null = null;
  const tokens = Array.from(text.matchAll(TOKEN), ([token]) => token);
  if (text.endsWith(tokens.at(-1) ?? "") && INCOMPLETE.test(tokens.at(-1) ?? "")) tokens.pop();
  for (const token of tokens) {
    const pair = token.match(PAIR);
    const value = unquote(pair?.[3] ?? "");
    if (pair?.[1] === "id" && pair[2] === ":") id = [value];
    else if (pair && value && !isAddress(value)) {
      terms.push(termOf(pair[1] as string, pair[2] as string, value));
    } else if (token.startsWith('"')) words.push(unquote(token));
    else (id ?? words).push(token);
  }
  if (id?.join(" ")) terms.push(["jobId", id.join(" ")]);
  return { words: words.join(" "), terms };
}

/** Whether the part of a text after a colon belongs to an address: `https://…` is no metadata. */
const isAddress = (value: string): boolean => value.startsWith("//");

function termOf(key: string, sign: string, value: string): Term {
  if (key === "status" && FLAGS.includes(value)) return [value, "true"];
  if (key === "status" && STATUSES.includes(value)) return ["status", value];
  if (key === "name" && sign === ":") return ["name", value];
  return [METADATA + (key.startsWith(METADATA) ? key.slice(METADATA.length) : key), value];
}

/** Returns the filters of an address that are shown with a button that removes them. */
export const termsOf = (place: URLSearchParams): Term[] => [...place].filter((term) => isTerm(term));

const isTerm = ([name, value]: Term): boolean =>
  value !== "" &&
  (name.startsWith(METADATA) ||
    (name === "status" && STATUSES.includes(value)) ||
    (FLAGS.includes(name) && (value === "true" || value === "false")) ||
    (name !== "search" && TEXTS.includes(name)));

/** Returns a filter in words. */
export function termText([name, value]: Term): string {
  if (name.startsWith(METADATA)) return `${name.slice(METADATA.length)} = ${value}`;
  if (FLAGS.includes(name)) return value === "true" ? name : `not ${name}`;
  return `${name === "jobId" ? "id" : name}: ${value}`;
}

/** Returns the text of the search field for words that an address contains. */
export function wordsText(words: string): string {
  const parsed = parseSearch(words);
  return parsed.words === words && parsed.terms.length === 0 ? words : quoted(words);
}

/** Returns an address's query with other words, and with more filters. */
export function withSearch(place: URLSearchParams, { words, terms }: Search): URLSearchParams {
  const query = new URLSearchParams(place);
  if (words) query.set("search", words);
  else query.delete("search");
  for (const [name, value] of terms) {
    const isRepeated = name === "status" || name.startsWith(METADATA);
    if (!isRepeated) query.set(name, value);
    else if (!query.getAll(name).includes(value)) query.append(name, value);
  }
  return query;
}

/** Returns an address's query without one of its filters. */
export const withoutTerm = (place: URLSearchParams, [name, value]: Term): URLSearchParams =>
  new URLSearchParams([...place].filter((one) => one[0] !== name || one[1] !== value));

/** Returns an address's query without the filters that the counts above the list set. */
export const withoutState = (place: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...place].filter(([name]) => name !== "status" && !FLAGS.includes(name)));

/** Returns a sentence for an empty list: `No failed jobs with metadata.team = sales whose name contains “repo”`. */
export function emptyTitle(place: URLSearchParams): string {
  const states = [
    ...place.getAll("status").filter((one) => STATUSES.includes(one)),
    ...FLAGS.flatMap((flag) => ({ true: [flag], false: [`not ${flag}`] })[place.get(flag) ?? ""] ?? []),
  ];
  const terms = termsOf(place);
  const pairs = terms.filter(([name]) => name.startsWith(METADATA)).map(([name, value]) => `${name} = ${value}`);
  const quote = (name: string, title: string) => (place.get(name) ? [`${title} “${place.get(name)}”`] : []);
  const words = (place.get("search") ?? "").split(/\s+/).filter(Boolean);
  const conditions = [
    ...(words.length > 0 ? [`name contains ${words.map((word) => `“${word}”`).join(" and ")}`] : []),
    ...quote("name", "name begins with"),
    ...quote("jobId", "id begins with"),
  ];
  const span = SPANS[place.get("created") ?? ""];
  const times = terms.filter(([name]) => TIMES.includes(name)).map((term) => termText(term));
  return [
    `No ${[...(states.length > 0 ? [states.join(" or ")] : []), "jobs"].join(" ")}`,
    ...(span ? [`of the ${span.title.toLowerCase()}`] : []),
    ...(pairs.length > 0 ? [`with ${pairs.join(" and ")}`] : []),
    ...(conditions.length > 0 ? [`whose ${conditions.join(" and whose ")}`] : []),
    ...(times.length > 0 ? [`(${times.join(", ")})`] : []),
  ].join(" ");
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const unquote = (text: string): string =>
  text.startsWith('"') ? text.replace(/^"((?:[^"]|"")*)"?$/s, "$1").replaceAll('""', '"') : text;
