import { existsSync } from "node:fs";
import type { Consent, ConsentClient } from "../../gmail/auth/consent.ts";
import { readCredentials } from "../../gmail/auth/credentials.ts";
import type { GoogleCredentials } from "../../gmail/auth/googleAuth.ts";
import { StartError } from "../../shared/process/lifecycle.ts";
import { readTextFile } from "../../shared/text/textFile.ts";
import { writePrivateFile } from "../configFile/privateFile.ts";

/** Credentials with the properties that the set-up needs, if they are known. */
export interface KnownCredentials {
  readonly credentials: GoogleCredentials;
  /** The Google Cloud project that the client or the service account belongs to. */
  readonly project: string | undefined;
  /** The scopes of a consent. */
  readonly scopes: readonly string[] | undefined;
  /** The id of a service account, by which an administrator permits it. */
  readonly clientId: string | undefined;
  /** The text of the file to save. */
  readonly text: string;
}

/** Returns the saved credentials; undefined if there are none. @throws StartError if the file cannot be used */
export const savedCredentials = (path: string): KnownCredentials | undefined =>
  existsSync(path) ? knownCredentials(path) : undefined;

/** Reads credentials from a file. @throws StartError if the file is missing or cannot be used */
export function knownCredentials(path: string): KnownCredentials {
  const credentials = readCredentials(path);
  return describe(credentials, readTextFile(path));
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

/** Returns the credentials of a consent in Google's own format, with the client's project. */
export function consentCredentials(client: Client, { refreshToken, scopes }: Consent): KnownCredentials {
  const { client_id, client_secret, project } = client;
  const credentials: GoogleCredentials = {
    type: "authorized_user",
    client_id,
    client_secret,
    refresh_token: refreshToken,
  };
  const saved = { ...credentials, scopes, ...(project !== undefined && { project_id: project }) };
  return describe(credentials, `${JSON.stringify(saved, null, 2)}\n`);
}

/** Saves credentials in a file that only this user can read. @throws StartError if it cannot be written */
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

/** Returns the client to which a consent was given; undefined for a service account. */
export function clientOf({ credentials, project }: KnownCredentials): Client | undefined {
  if (credentials.type !== "authorized_user") return undefined;
  const { client_id, client_secret } = credentials;
  return { client_id, client_secret, project };
}

export interface Client extends ConsentClient {
  readonly project: string | undefined;
}

/**
 * Reads the JSON file that Google's console provides for an OAuth client.
 * @throws StartError with one sentence that contains no value of the file
 */
export function readClient(path: string): Client {
  const { installed, web } = parse(path) as Record<string, Record<string, unknown> | undefined>;
  const { client_id, client_secret, project_id } = installed ?? web ?? {};
  const [id, secret] = [textOf(client_id), textOf(client_secret)];
  if (id && secret) return { client_id: id, client_secret: secret, project: textOf(project_id) };
  throw new StartError(
    `${path} is not the JSON file of an OAuth client: it needs "installed" with "client_id" and "client_secret", as in the file that the Google Cloud console provides for a client of type Desktop app.`,
  );
}

function parse(path: string): object {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    throw new StartError(
      `The file of the OAuth client ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new StartError(`The file of the OAuth client ${path} is not valid JSON.`); // the parser's message would quote the file
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value ? value : undefined);
