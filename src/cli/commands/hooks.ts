import { agentPrompt } from "../../agents/prompt/agentPrompt.ts";
import { mappedRequest } from "../../hooks/mappings/agentRequest.ts";
import {
  compileMappings,
  expandItems,
  type HookCall,
  type Mapping,
  mappingsNamed,
  matchBody,
} from "../../hooks/mappings/mapping.ts";
import { renderCall } from "../../hooks/templates/render.ts";
import { Transforms } from "../../hooks/transforms/transforms.ts";
import { readConfig } from "../../shared/config/load.ts";
import { withoutOwnSecrets } from "../../shared/config/ownSecrets.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { AppError } from "../../shared/errors.ts";
import { StartError } from "../../shared/lifecycle.ts";
import { cleanJson, cleanText } from "../terminal/cleanText.ts";
import { readJsonBody } from "../terminal/readInput.ts";

export interface HookTestOptions {
  /** The path of a file, or `-` for standard input. */
  readonly body: string;
  readonly header?: Readonly<Record<string, string>>;
  /** As `a=1&b=2`. */
  readonly query: string;
  readonly json: boolean;
}

/**
 * `hooks test NAME --body FILE`: runs mapping and transform in this process and prints the result. Nothing is sent or
 * stored, and the sender is not authenticated.
 * @throws StartError if the body cannot be read, no mapping matches, or the mapping or transform fails
 */
export async function testHook(env: NodeJS.ProcessEnv, name: string, options: HookTestOptions): Promise<void> {
  const config = readConfig(env);
  const { hooks } = config;
  const payload = readJsonBody(options.body).value;
  const mapping = matchBody(mappingsNamed(compileMappings(hooks), name), payload);
  if (!mapping)
    throw new StartError(`No mapping matches ${name} with this body: see hooks.mappings and hooks.presets.`);
  const call = { ...requestOf(hooks.path, name, options), payload };
  const calls = expandItems(mapping, call);
  if (!calls) throw new StartError(`The body has no array ${mapping.forEach}, which the forEach of the mapping names.`);
  if (calls.length === 0) console.log(`${mapping.forEach} is empty: the webhook starts no run.`);
  const transforms = new Transforms({
    dir: hooks.transformsDir ?? "",
    timeoutMs: hooks.transformTimeoutSeconds * 1_000,
    maxMemoryMiB: hooks.transformMemoryMiB,
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
}

async function runMapping(config: Config, mapping: Mapping, call: HookCall, transforms: Transforms) {
  const request = mapping.transform && { ...mapping.transform, input: call, label: mapping.key };
  const { signal } = new AbortController();
  const transformed = request ? await transforms.run(request, signal) : ({ kind: "kept" } as const);
  const result = renderCall(mapping, call, new Date(), transformed);
  if (result?.kind !== "agent") return { mapping: mapping.key, ...(result ?? { kind: "dropped" as const }) };
  const { hooks, agents } = config;
  const mapped = mappedRequest(result, mapping, transformed, hooks, agents.defaults);
  const { sessionKey = "a new session", request: run } = mapped;
  const { message, instructions, allowUnsafe, ...rest } = run;
  const source = result.name ?? mapping.key;
  const prompt = agentPrompt({ message, source, instructions, allowUnsafe });
  return { mapping: mapping.key, kind: result.kind, name: source, sessionKey, ...rest, prompt };
}

function requestOf(basePath: string, path: string, { header = {}, query }: HookTestOptions): Omit<HookCall, "payload"> {
  const headers = Object.entries(header).map(([name, value]) => [name.toLowerCase(), value]);
  const url = `${basePath}/${path}${query && `?${query}`}`;
  return { headers: Object.fromEntries(headers), url, path, query: Object.fromEntries(new URLSearchParams(query)) };
}

function describeResult(result: Readonly<Record<string, unknown>>): string {
  const { prompt, ...rest } = result;
  const width = Math.max(...Object.keys(rest).map((key) => key.length));
  const lines = Object.entries(rest).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [`${key.padEnd(width)}  ${value}`],
  );
  return cleanText([...lines, ...(prompt === undefined ? [] : ["", String(prompt)]), ""].join("\n"));
}
