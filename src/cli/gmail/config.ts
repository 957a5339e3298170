import { dirname, resolve } from "node:path";
import { type Json, substitute } from "../../config/fill.ts";
import { ConfigError, configPath, parseConfig, parseFile } from "../../config/load.ts";
import type { GmailConfig } from "../../gmail/api/google.ts";
import { StartError } from "../../shared/process/lifecycle.ts";
import { isObject } from "../../shared/text/json.ts";
import { readTextFile } from "../../shared/text/textFile.ts";
import { editJson5, type Json5Edit } from "../configFile/json5Edit.ts";
import { writePrivateFile } from "../configFile/privateFile.ts";
import { replaceFile } from "../configFile/replaceFile.ts";
import { configTemplate } from "../configFile/template.ts";
import { findSavedToken, generateSecret } from "../start/savedToken.ts";

/** The desired `hooks.gmail`. Null means that the key must be absent; undefined keeps its value. */
export type DesiredGmailConfig = { readonly [K in keyof GmailConfig]?: GmailConfig[K] | null | undefined };

/** The text of the existing configuration file, or of a new one. */
export interface ConfigText {
  readonly path: string;
  readonly text: string;
  readonly isNew: boolean;
}

/** @throws ConfigError if the file exists but cannot be read */
export function readConfigText(env: NodeJS.ProcessEnv): ConfigText {
  const path = configPath(env);
  try {
    return { path, text: readTextFile(path), isNew: false };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new ConfigError(path, [`the file cannot be read (${code})`]);
    return { path, text: newConfigText(env), isNew: true };
  }
}

/**
 * Returns a new file as `init` does. If the service was started without a file before, its hook token stays the same and
 * its API stays without a token.
 */
function newConfigText(env: NodeJS.ProcessEnv): string {
  const savedToken = findSavedToken(resolve(parseConfig(undefined, env).dataDir));
  return configTemplate({
    "server.apiToken": savedToken ? undefined : generateSecret(),
    "hooks.enabled": true,
    "hooks.token": env.SIGNALBOX_HOOKS_TOKEN ? undefined : (savedToken ?? generateSecret()),
  });
}

/** Returns `hooks.gmail` of the file, with variables filled in but without defaults; {} if it is absent. */
export function savedGmail({ path, text }: ConfigText, env: NodeJS.ProcessEnv): Json {
  const { hooks } = substitute(parseFile(text, path), env).value;
  return isObject(hooks) && isObject(hooks.gmail) ? hooks.gmail : {};
}

/** Returns the path of the credentials, which is relative to the configuration file. */
export const credentialsPath = ({ path }: ConfigText, { credentialsFile }: Json): string =>
  resolve(dirname(path), typeof credentialsFile === "string" ? credentialsFile : "gmail-credentials.json");

export interface ConfigChange {
  /** The new text of the whole file. */
  readonly text: string;
  /** `hooks.gmail` of the new text. */
  readonly gmail: GmailConfig;
}

/**
 * Returns the file with the desired `hooks.gmail`, and with the preset if no mapping of the file matches mails. Values that
 * are already right are not changed.
 * @throws ConfigError if the result would not be usable
 */
export function planConfig(file: ConfigText, env: NodeJS.ProcessEnv, desired: DesiredGmailConfig): ConfigChange {
  const saved = savedGmail(file, env);
  const edits = Object.entries(desired).flatMap(([key, value]): Json5Edit[] => {
    if (value === undefined || (value ?? undefined) === saved[key]) return [];
    return [{ path: ["hooks", "gmail", key], value: value ?? undefined }];
  });
  const text = edit(file, edits);
  try {
    return changeTo(text, file, env);
  } catch (error) {
    const preset = presetEdit(text, file);
    if (!(error instanceof ConfigError) || !preset) throw error;
    return changeTo(edit({ ...file, text }, [preset]), file, env);
  }
}

/** @throws ConfigError if the text is not usable */
function changeTo(text: string, { path }: ConfigText, env: NodeJS.ProcessEnv): ConfigChange {
  return { text, gmail: parseConfig(text, env, path).hooks.gmail as GmailConfig };
}

/** Returns the edit that adds the preset; undefined if the preset is there already or cannot be added. */
function presetEdit(text: string, { path }: ConfigText): Json5Edit | undefined {
  const { hooks } = parseFile(text, path);
  const presets = isObject(hooks) ? (hooks.presets ?? []) : undefined;
  if (!Array.isArray(presets) || presets.includes("gmail")) return undefined;
  return { path: ["hooks", "presets", presets.length], value: "gmail" };
}

function edit({ path, text }: ConfigText, edits: readonly Json5Edit[]): string {
  try {
    return editJson5(text, edits);
  } catch {
    throw new ConfigError(path, ["hooks.gmail cannot be written, because hooks or hooks.gmail is not an object"]);
  }
}

/**
 * Applies the desired values to the current content of the file.
 * @returns false if no change was necessary
 * @throws StartError with the text to paste, if the file cannot be written
 */
export function writeConfig(file: ConfigText, env: NodeJS.ProcessEnv, desired: DesiredGmailConfig): boolean {
  const now = readConfigText(env);
  const from = now.isNew ? file : now;
  const { text } = planConfig(from, env, desired);
  if (text === from.text && !from.isNew) return false;
  try {
    if (!from.isNew) replaceFile(from.path, text);
    else if (!writePrivateFile(from.path, text, { replace: false }))
      throw Object.assign(new Error(), { code: "EEXIST" });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `${from.path} cannot be written (${code}): add the following to it, and "gmail" to hooks.presets.\n\n${gmailBlock(desired)}`,
    );
  }
}

/** Returns the desired values as text to paste. */
export const gmailBlock = (desired: DesiredGmailConfig): string => {
  const set = Object.entries(desired).filter(([, value]) => value !== null && value !== undefined);
  return editJson5("{}", [{ path: ["hooks", "gmail"], value: Object.fromEntries(set) }]);
};
