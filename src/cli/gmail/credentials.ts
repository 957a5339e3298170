import { existsSync, readFileSync } from "node:fs";
import type { Consent, ConsentClient } from "../../gmail/auth/consent.ts";
import { readCredentials } from "../../gmail/auth/credentials.ts";
import type { GoogleCredentials } from "../../gmail/auth/googleAuth.ts";
import { StartError } from "../../shared/lifecycle.ts";
import { writePrivateFile } from "../configFile/privateFile.ts";

/** Credentials with what the set-up has to know of them; each of it may be unknown. */
export interface KnownCredentials {
  readonly credentials: GoogleCredentials;
  /** The Google Cloud project that the client or the service account belongs to. */
  readonly project: string | undefined;
  /** Of a consent. */
  readonly scopes: readonly string[] | undefined;
  /** By which an administrator allows a service account. */
  readonly clientId: string | undefined;
  /** The file's text, to be kept. */
  readonly text: string;
}

/** Undefined where there is none. @throws StartError when it cannot be used */
export const savedCredentials = (path: string): KnownCredentials | undefined =>
  existsSync(path) ? knownCredentials(path) : undefined;

/** @throws StartError when the file is not there, or cannot be used */
export function knownCredentials(path: string): KnownCredentials {
  const credentials = readCredentials(path);
  return describe(credentials, readFileSync(path, "utf8"));
}

function describe(credentials: GoogleCredentials, text: string): KnownCredentials {
  const { project_id, scopes, client_id } = JSON.parse(text) as Record<string, unknown>;
  return {
    credentials,
    project: textOf(project_id),
    scopes: Array.isArray(scopes) ? scopes.map(String) : undefined,
    clientId: textOf(client_id),
    text,
  };
}

/** A consent as it is kept: in Google's own shape, with the client's project. */
export function consentCredentials(client: Client, { refreshToken, scopes }: Consent): KnownCredentials {
  const { client_id, client_secret, project } = client;
  const credentials: GoogleCredentials = {
    type: "authorized_user",
    client_id,
    client_secret,
    refresh_token: refreshToken,
  };
  const kept = { ...credentials, scopes, ...(project !== undefined && { project_id: project }) };
  return describe(credentials, `${JSON.stringify(kept, null, 2)}\n`);
}

/** Into a file that only this user can read. @throws StartError when it cannot be written */
export function saveCredentials(path: string, { text }: KnownCredentials): void {
  try {
    writePrivateFile(path, text, { replace: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `The credentials cannot be written to ${path} (${code}): name another file in hooks.gmail.credentialsFile.`,
    );
  }
}

/** The client that a consent was given to. */
export function clientOf({ credentials, project }: KnownCredentials): Client | undefined {
  if (credentials.type !== "authorized_user") return undefined;
  const { client_id, client_secret } = credentials;
  return { client_id, client_secret, project };
}

export interface Client extends ConsentClient {
  readonly project: string | undefined;
}

/**
 * The JSON that Google's console gives out for an OAuth client.
 * @throws StartError one sentence, with no value of the file
 */
export function readClient(path: string): Client {
  const { installed, web } = parse(path) as Record<string, Record<string, unknown> | undefined>;
  const { client_id, client_secret, project_id } = installed ?? web ?? {};
  const [id, secret] = [textOf(client_id), textOf(client_secret)];
  if (id && secret) return { client_id: id, client_secret: secret, project: textOf(project_id) };
  throw new StartError(
    `${path} is no OAuth client: it needs "installed" with "client_id" and "client_secret", as Google's console gives it out for a client of type Desktop app.`,
  );
}

function parse(path: string): object {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new StartError(`The OAuth client's file ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new StartError(`The OAuth client's file ${path} is not valid JSON.`); // what the parser says would quote it
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value ? value : undefined);
