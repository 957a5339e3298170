import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** An agent of this machine that the service could use, with the settings for it. */
export interface FoundAgent {
  readonly name: string;
  /** The lines for the configuration file, in JSON5. */
  readonly settings: string;
}

interface Options {
  readonly ollamaUrl?: string;
  /** Maximum duration of the request to Ollama: the start must not wait for it. */
  readonly timeoutMs?: number;
}

/** Programs that answer a prompt on standard input, and their arguments for one turn without a session of their own. */
const PROGRAMS = {
  claude: ["-p", "--no-session-persistence", "--permission-mode", "dontAsk"],
  codex: ["exec", "--skip-git-repo-check", "--ephemeral", "-s", "read-only", "-"],
  gemini: ["-p", "Do what is asked above."],
} as const;

/**
 * Finds an Ollama with a model on this machine, and known programs on PATH. Sends one request, for the list of Ollama's models,
 * and starts no program.
 */
export async function findAgents(
  env: NodeJS.ProcessEnv,
  { ollamaUrl = "http://127.0.0.1:11434", timeoutMs = 300 }: Options = {},
): Promise<FoundAgent[]> {
  const programs = Object.entries(PROGRAMS).filter(([name]) => isOnPath(name, env.PATH ?? ""));
  const model = await findOllamaModel(ollamaUrl, timeoutMs).catch(() => undefined);
  return [
    ...(model === undefined ? [] : [{ name: `Ollama with ${model}`, settings: modelSettings(ollamaUrl, model) }]),
    ...programs.map(([name, args]) => ({ name, settings: programSettings([name, ...args]) })),
  ];
}

const modelSettings = (url: string, model: string): string =>
  `agents: {
  defaults: { runner: "openai", model: "${model}" },
  runners: { openai: { baseUrl: "${url}/v1" } } },`;

const programSettings = (command: readonly string[]): string =>
  `agents: { defaults: { runner: "command" }, runners: { command: { command: [
  ${JSON.stringify(command).slice(1, -1)}
] } } },`;

/** Only such names are shown: any program may listen on Ollama's port. */
const MODEL_NAME = /^[\w.:/-]{1,60}$/;

/** Returns the name of the model that was changed last and generates text; undefined when there is none. */
async function findOllamaModel(url: string, timeoutMs: number): Promise<string | undefined> {
  const response = await fetch(`${url}/api/tags`, { signal: AbortSignal.timeout(timeoutMs), redirect: "error" });
  if (!response.ok) return undefined;
  const { models } = (await response.json()) as { models: { name: string; details?: { family?: string } }[] };
  const isForText = ({ name, details }: (typeof models)[number]) => !/embed|bert/i.test(`${name} ${details?.family}`);
  return models.filter(({ name }) => typeof name === "string" && MODEL_NAME.test(name)).find(isForText)?.name;
}

function isOnPath(name: string, path: string): boolean {
  return path.split(delimiter).some((directory) => {
    try {
      const file = join(directory, name);
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}
