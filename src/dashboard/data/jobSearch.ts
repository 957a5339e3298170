import type { JobFilter } from "../../client/client.ts";

/*
 * The page's address holds the filters of the list of jobs as query parameters with the API's names. The additional
 * parameter `created` is a time span before now.
 */
const TEXTS = ["name", "jobId", "createdFrom", "createdBefore", "updatedFrom", "updatedBefore"];
const STATUSES = ["running", "completed", "failed"];
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
  const stale = place.get("stale");
  if (stale === "true" || stale === "false") filter.stale = stale === "true";
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

const WORD = /(?:[^\s"=]+=|id:)?"(?:[^"]|"")*"?|\S+/g;

/**
 * Parses the search field: `id:ci/7` is a prefix of the jobId, `team=sales` is metadata, and the remaining words are a
 * prefix of the name. Values with spaces are enclosed in double quotes; a double quote in a value is doubled.
 */
export function parseSearch(text: string): { name: string; jobId: string; metadata: [string, string][] } {
  const name: string[] = [];
  const metadata: [string, string][] = [];
  let jobId = "";
  for (const [word] of text.matchAll(WORD)) {
    const pair = word.match(/^([^\s"=]+)=(.*)$/s);
    if (word.startsWith("id:")) jobId = unquote(word.slice(3));
    else if (pair) metadata.push([pair[1] as string, unquote(pair[2] as string)]);
    else name.push(unquote(word));
  }
  return { name: name.join(" "), jobId, metadata };
}

/** Returns the search field's text for an address. */
export function searchText(place: URLSearchParams): string {
  const words: string[] = [];
  const name = place.get("name");
  if (name) words.push(/=|"|\bid:|^ | $| {2}|[^\S ]/.test(name) ? quoted(name) : name);
  const jobId = place.get("jobId");
  if (jobId) words.push(`id:${quote(jobId)}`);
  for (const [key, value] of place)
    if (key.startsWith(METADATA)) words.push(`${key.slice(METADATA.length)}=${quote(value)}`);
  return words.join(" ");
}

/** Returns the address's query with another search. */
export function withSearch(place: URLSearchParams, text: string): URLSearchParams {
  const query = new URLSearchParams([...place].filter(([key]) => !/^(name|jobId|metadata\..+)$/.test(key)));
  const { name, jobId, metadata } = parseSearch(text);
  if (name) query.set("name", name);
  if (jobId) query.set("jobId", jobId);
  for (const [key, value] of metadata) if (value) query.append(`metadata.${key}`, value);
  return query;
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const quote = (text: string): string => (/[\s"]/.test(text) ? quoted(text) : text);
const unquote = (text: string): string =>
  text.startsWith('"') ? text.replace(/^"((?:[^"]|"")*)"?$/s, "$1").replaceAll('""', '"') : text;
