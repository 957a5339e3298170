import { agentPrompt } from "../../../agents/prompt/agentPrompt.ts";
import { describeMissing, hookRequestCalls } from "../../../client/calls/hookRequests.ts";
import type { Config } from "../../../config/config.ts";
import { readConfig, withoutOwnSecrets } from "../../../config/load.ts";
import { mappedRequest } from "../../../hooks/mappings/agentRequest.ts";
import {
  compileMappings,
  expandItems,
  type HookCall,
  type Mapping,
  mappingsNamed,
} from "../../../hooks/mappings/mapping.ts";
import { noMapping, selectMapping } from "../../../hooks/mappings/selectMapping.ts";
import { type MissingValue, missingValues } from "../../../hooks/templates/missingValues.ts";
import { renderCall } from "../../../hooks/templates/render.ts";
import { Transforms } from "../../../hooks/transforms/transforms.ts";
import { AppError } from "../../../shared/errors.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { header } from "../../arguments.ts";
import { type Define, withExamples, withUrl } from "../../command.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanText } from "../../terminal/cleanText.ts";
import { readJsonBody } from "../../terminal/readInput.ts";

interface HookTestOptions extends ServiceOptions {
  /** The path of a file, or `-` for standard input. */
  readonly body?: string;
  /** The id of a kept request, in place of a body. */
  readonly request?: string;
  readonly header?: Readonly<Record<string, string>>;
  /** As `a=1&b=2`. */
  readonly query: string;
  readonly json: boolean;
}

/**
 * `hooks test NAME --body FILE`, or `--request ID` for a request that the service has kept: runs mapping and transform in
 * this process and prints the result. Nothing is sent or stored, and the sender is not authenticated.
 */
export const testHook: Define = (command, environment) =>
  withExamples(
    withUrl(
      command
        .argument("<name>", "path of the hook below hooks.path")
        .option("--body <file>", "file with the JSON body, or - for standard input")
        .option("--request <requestId>", "kept request of the service, in place of a body")
        .option("--header <line>", 'header of the request as "name: value" (repeatable)', header)
        .option("--query <text>", "query string of the request, such as a=1&b=2", "")
        .option("--json", "print one line of JSON for each run"),
    ),
    "signalbox hooks test ci/build --body body.json",
    "signalbox hooks test github --request b4a0c1de-5a7e-4d63-9a45-3f1f1c0e7a21",
  ).action(async (name: string, options: HookTestOptions) => {
    const env = await environment();
    const config = readConfig(env);
    const { hooks } = config;
    const call = await readCall(env, hooks.path, name, options);
    const mappings = compileMappings(hooks);
    const { mapping, filtered, considered } = selectMapping(mappingsNamed(mappings, name), call, new Date());
    if (!mapping) {
      if (considered.length === 0)
        throw new StartError(`${noMapping(mappings, name)} See hooks.mappings and hooks.presets.`);
      for (const { mapping: one, reason } of considered) console.log(cleanText(`${one.key} does not match: ${reason}`));
      if (filtered.length === 0) throw new StartError(`No mapping with the name ${name} has the source of this body.`);
      console.log("The webhook starts no run, because match.when leaves it out.");
      return;
    }
    const calls = expandItems(mapping, call, new Date());
    if (!calls) throw new StartError(`The body has no array ${mapping.forEach}, which is the forEach of the mapping.`);
    if (calls.length === 0) console.log(`${mapping.forEach} is empty: the webhook starts no run.`);
    const transforms = new Transforms({
      dir: hooks.transformsDir ?? "",
      timeoutMs: hooks.transformTimeoutSeconds * 1_000,
      maxThreads: 2,
      env: withoutOwnSecrets(env),
      onOutput: (_run, _stream, line) => console.error(line),
    });
    try {
      for (const itemCall of calls) {
        const result = await runMapping(config, mapping, itemCall, transforms);
        console.log(options.json ? cleanJson(result) : describeResult(result));
      }
    } catch (error) {
      if (error instanceof AppError) throw new StartError(`${mapping.key} failed (${error.code}): ${error.message}`);
      throw error;
    } finally {
      await transforms.close();
    }
  });

/** Returns the call of the options: a body with its headers, or a request that the service has kept. */
async function readCall(
  env: NodeJS.ProcessEnv,
  basePath: string,
  name: string,
  options: HookTestOptions,
): Promise<HookCall> {
  const { body, request } = options;
  if ((body === undefined) === (request === undefined)) throw new CommandError(EXIT.usage, ONE_SOURCE);
  if (request === undefined) return { ...requestOf(basePath, name, options), payload: readJsonBody(body ?? "").value };
  const kept = await withService(env, options, ({ client }) => hookRequestCalls(client.call).get(request));
  if (kept.body === null) throw new StartError("The request was refused, so that its body is not kept.");
  const { headers, url, query, payload } = kept;
  return { headers, url, query, path: name, payload: payload as HookCall["payload"] };
}

const ONE_SOURCE =
  "Either --body or --request is required: name a file with the JSON body (- for standard input), or a kept request.";

/** The run, event or reports that a call makes, with what describes it. */
interface MappedResult {
  readonly mapping: string;
  readonly kind: "agent" | "wake" | "job" | "dropped";
  readonly missingValues?: readonly MissingValue[] | undefined;
  readonly prompt?: string;
  readonly [field: string]: unknown;
}

async function runMapping(
  config: Config,
  mapping: Mapping,
  call: HookCall,
  transforms: Transforms,
): Promise<MappedResult> {
  const request = mapping.transform && { ...mapping.transform, input: call, label: mapping.key };
  const { signal } = new AbortController();
  const transformed = request ? await transforms.run(request, signal) : ({ kind: "kept" } as const);
  const result = renderCall(mapping, call, new Date(), transformed);
  if (!result) return { mapping: mapping.key, kind: "dropped" };
  const missing = missingValues(mapping, call, new Date(), transformed);
  if (result.kind === "job") {
    return { mapping: mapping.key, kind: result.kind, reports: result.reports, missingValues: missing };
  }
  if (result.kind === "wake") return { mapping: mapping.key, ...result, missingValues: missing };
  const { hooks, agents } = config;
  const mapped = mappedRequest(result, mapping, transformed, hooks, agents);
  const { sessionKey = "a new session", request: run } = mapped;
  const { message, instructions, allowUnsafe, ...rest } = run;
  const source = result.name ?? mapping.key;
  const prompt = agentPrompt({ message, source, instructions, allowUnsafe });
  return { mapping: mapping.key, kind: result.kind, name: source, sessionKey, ...rest, missingValues: missing, prompt };
}

function requestOf(basePath: string, path: string, { header = {}, query }: HookTestOptions): Omit<HookCall, "payload"> {
  const headers = Object.entries(header).map(([name, value]) => [name.toLowerCase(), value]);
  const url = `${basePath}/${path}${query && `?${query}`}`;
  return { headers: Object.fromEntries(headers), url, path, query: Object.fromEntries(new URLSearchParams(query)) };
}

function describeResult({ prompt, missingValues: missing = [], ...rest }: MappedResult): string {
  const width = Math.max(...Object.keys(rest).map((key) => key.length));
  const lines = Object.entries(rest).flatMap(([key, value]) =>
    value === null || value === undefined
      ? []
      : [`${key.padEnd(width)}  ${typeof value === "object" ? JSON.stringify(value, null, 2) : value}`],
  );
  const warning = describeMissing(missing);
  if (warning) lines.push("", `${warning}.`);
  return cleanText([...lines, ...(prompt === undefined ? [] : ["", String(prompt)]), ""].join("\n"));
}
