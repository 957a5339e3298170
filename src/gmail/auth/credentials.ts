import { createPrivateKey } from "node:crypto";
import { statSync } from "node:fs";
import { StartError } from "../../shared/process/lifecycle.ts";
import { isObject } from "../../shared/text/json.ts";
import { readTextFile } from "../../shared/text/textFile.ts";
import type { GoogleCredentials } from "./googleAuth.ts";

const REMEDY = "run `signalbox webhooks gmail setup`, or name another file in hooks.gmail.credentialsFile";

/** Required fields of each kind; all are strings. */
const FIELDS = {
  authorized_user: ["client_id", "client_secret", "refresh_token"],
  service_account: ["client_email", "private_key"],
} as const satisfies Record<GoogleCredentials["type"], readonly string[]>;

/**
 * Reads a credentials file: the consent written by the set-up, or a service account's key as downloaded from Google.
 * @throws StartError one sentence that names the file and the problem, but none of its values
 */
export function readCredentials(path: string): GoogleCredentials {
  const value = parse(path, readText(path));
  const { type } = value;
  if (type !== "authorized_user" && type !== "service_account") {
    throw unusable(path, `has no "type" of "authorized_user" or "service_account"`);
  }
  const missing = FIELDS[type].find((field) => typeof value[field] !== "string" || value[field].trim() === "");
  if (missing) throw unusable(path, `has no "${missing}"`);
  if (type === "service_account") checkKey(path, value.private_key as string);
  const fields = FIELDS[type].map((field) => [field, value[field]]);
  return { type, ...Object.fromEntries(fields) } as GoogleCredentials;
}

/** Returns whether other users of this machine may read or change the file. Always false on Windows. */
export function isOpenToOthers(path: string): boolean {
  return process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
}

function readText(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw unusable(path, code === "ENOENT" ? "does not exist" : `cannot be read (${code})`);
  }
}

function parse(path: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusable(path, "is not valid JSON"); // the parser's message would quote the file
  }
  if (isObject(value)) return value;
  throw unusable(path, "does not contain a JSON object");
}

function checkKey(path: string, key: string): void {
  try {
    createPrivateKey(key);
  } catch {
    throw unusable(path, 'has a "private_key" that is none');
  }
}

const unusable = (path: string, fault: string) => new StartError(`The credentials file ${path} ${fault}: ${REMEDY}.`);
