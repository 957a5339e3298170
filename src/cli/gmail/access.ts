import { createGmailApi, type GmailApi } from "../../gmail/api/gmailApi.ts";
import { authorize, type GmailConfig } from "../../gmail/api/google.ts";
import { GoogleError } from "../../gmail/api/googleError.ts";
import { requestConsent } from "../../gmail/auth/consent.ts";
import { isOpenToOthers } from "../../gmail/auth/credentials.ts";
import { GMAIL_SCOPE, type GoogleAuth, PUBSUB_SCOPE } from "../../gmail/auth/googleAuth.ts";
import { StartError } from "../../shared/process/lifecycle.ts";
import { openBrowser } from "../terminal/openBrowser.ts";
import {
  type Client,
  clientOf,
  consentCredentials,
  type KnownCredentials,
  knownCredentials,
  readClient,
  saveCredentials,
  savedCredentials,
} from "./credentials.ts";
import type { SetupNames } from "./remedies.ts";
import { inStep, printStep } from "./steps.ts";

export interface AccessOptions {
  /** The JSON of an OAuth client. */
  readonly client?: string;
  /** The key of a service account. */
  readonly credentials?: string;
  readonly again?: boolean;
  readonly port: number;
  readonly browser: boolean;
  readonly dryRun?: boolean;
}

/** The credentials at the start of the set-up: saved or given ones, an OAuth client for a new consent, or both. */
export interface InitialCredentials {
  readonly known: KnownCredentials | undefined;
  readonly client: Client | undefined;
  /** Whether the credentials differ from the saved ones. */
  readonly isNewKey: boolean;
}

const CONSENT_WITHIN_MS = 5 * 60_000;

/**
 * Finds the credentials for the set-up in the options and the saved file.
 * @param path of the saved credentials
 * @throws StartError if there are neither credentials nor a client, or a file cannot be used
 */
export function findInitialCredentials(
  path: string,
  { client: clientFile, credentials: keyFile, again }: AccessOptions,
): InitialCredentials {
  if (clientFile !== undefined && keyFile !== undefined) {
    throw new StartError("Pass --client for a consent or --credentials for a service account, not both.");
  }
  if (keyFile !== undefined) {
    const known = knownCredentials(keyFile);
    return { known, client: undefined, isNewKey: savedIfReadable(path)?.text !== known.text };
  }
  const client = clientFile === undefined ? undefined : readClient(clientFile);
  const saved = client ? savedIfReadable(path) : savedCredentials(path);
  if (!saved && !client) {
    throw new StartError(
      "No consent is saved: pass the JSON file of an OAuth client with --client, or the key file of a service account with --credentials.",
    );
  }
  const own = saved && clientOf(saved);
  if (!own && again && !client) {
    throw new StartError(
      "--again asks for a consent, but the saved credentials are the key of a service account: pass --client.",
    );
  }
  const isSaved = client === undefined || client.client_id === own?.client_id;
  return { known: isSaved && !again ? saved : undefined, client: client ?? own, isNewKey: false };
}

/** Returns the saved credentials, or undefined if they are missing or invalid: the given ones then replace them. */
function savedIfReadable(path: string): KnownCredentials | undefined {
  try {
    return savedCredentials(path);
  } catch {
    return undefined;
  }
}

/** Access to the mailbox and to Pub/Sub with the credentials. */
export interface Access {
  readonly gmail: GmailApi;
  readonly pubsubAuth: GoogleAuth;
  readonly names: SetupNames;
}

interface AccessRequest {
  readonly given: InitialCredentials;
  readonly settings: GmailConfig;
  readonly project: string | undefined;
  readonly options: AccessOptions;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Obtains credentials for this mailbox: the initial ones, or those of a new consent by the user, which are saved before
 * any further step.
 * @returns null on a dry run that would have to ask for consent
 * @throws StartError
 */
export async function obtainAccess(request: AccessRequest): Promise<Access | null> {
  const { given, settings, options } = request;
  const { known, client, isNewKey } = given;
  const { account, credentialsFile: path } = settings;
  const scopes = settings.topic === undefined ? [GMAIL_SCOPE] : [GMAIL_SCOPE, PUBSUB_SCOPE];
  let why = "no consent is saved, or --again or another client was given";
  if (known) {
    const access = open(known, request);
    const found = covers(known, scopes) ? await checkMailbox(access, account) : "unfit";
    if (isUsable(found)) {
      const isRight = !isNewKey && !isOpenToOthers(path);
      if (!isRight && !options.dryRun) await inStep("credentials", access.names, () => saveCredentials(path, known));
      const outcome = isRight ? "unchanged" : isNewKey ? "new" : "other users could read it; now only you can";
      printStep(isRight || !options.dryRun ? "did" : "would", "credentials", `${path} (${outcome})`);
    }
    if (isUsable(found) || !client || isClientError(found)) return requireMailbox(access, account, found);
    why = found === "unfit" ? "the saved one does not cover Pub/Sub" : found === "other" ? OTHER : ENDED;
    if (!options.dryRun) console.log(`       A new consent is needed: ${why}.`);
  }
  if (!client) throw new StartError("A consent needs an OAuth client: pass its JSON file with --client.");
  if (options.dryRun) {
    printStep("would", "consent", `of ${account}, in a browser: ${why}`);
    return null;
  }
  const names = { account, project: request.project, serviceAccount: undefined };
  const consented = await inStep("consent", names, () => consent(client, scopes, request));
  const access = open(consented, request);
  const found = await checkMailbox(access, account);
  if (isUsable(found)) {
    await inStep("consent", names, () => saveCredentials(path, consented));
    printStep("did", "consent", `given, and saved in ${path}, which only you can read`);
  }
  return requireMailbox(access, account, found);
}

const OTHER = "the saved one is for another account";
const ENDED = "the saved one has expired (for an app in testing that takes seven days: publish the app)";

/** The result of opening the mailbox: the right account, another one, missing scopes, or the error. */
type MailboxCheck = "right" | "other" | "unfit" | GoogleError;

/** Returns whether the credentials may be right. Only errors of authorization show that they are not. */
const isUsable = (found: MailboxCheck): boolean =>
  found instanceof GoogleError ? found.kind !== "authorization" : found === "right";

/** Returns whether the OAuth client was rejected. A new consent to the same client would fail too. */
const isClientError = (found: MailboxCheck) =>
  found instanceof GoogleError && found.codes.some((code) => /client$/.test(code));

const covers = ({ scopes: granted }: KnownCredentials, scopes: readonly string[]) =>
  granted === undefined || scopes.every((scope) => granted.includes(scope));

async function checkMailbox({ gmail }: Access, account: string): Promise<MailboxCheck> {
  try {
    const { emailAddress } = await gmail.getProfile(new AbortController().signal);
    return emailAddress.toLowerCase() === account.toLowerCase() ? "right" : "other";
  } catch (error) {
    if (error instanceof GoogleError) return error;
    throw error;
  }
}

/** @throws StartError unless the mailbox is the right one */
async function requireMailbox(access: Access, account: string, found: MailboxCheck): Promise<Access> {
  await inStep("account", access.names, () => {
    if (found instanceof GoogleError) throw found;
    if (found === "right") return;
    const choose = access.names.serviceAccount ? "" : `run again and choose ${account} on Google's page, or `;
    throw new StartError(
      `The consent is for another mailbox than ${account}: ${choose}pass its main address with --account.`,
    );
  });
  printStep("did", "account", account);
  return access;
}

function open({ credentials, clientId }: KnownCredentials, { settings, project }: AccessRequest): Access {
  const auth = authorize(credentials, settings);
  const isKey = credentials.type === "service_account";
  const serviceAccount = isKey ? { email: credentials.client_email, clientId } : undefined;
  const gmail = createGmailApi(auth.gmail);
  return { gmail, pubsubAuth: auth.pubsub, names: { account: settings.account, project, serviceAccount } };
}

async function consent(client: Client, scopes: readonly string[], request: AccessRequest): Promise<KnownCredentials> {
  const { account } = request.settings;
  const { port, browser } = request.options;
  const given = await requestConsent({
    client,
    account,
    scopes,
    port,
    timeoutMs: CONSENT_WITHIN_MS,
    show(address) {
      console.log(`Open this address in a browser and give the consent as ${account}:\n\n  ${address}\n`);
      if (browser) openBrowser(address, request.env);
      else console.log(ELSEWHERE);
    },
    pasted: browser ? undefined : process.stdin,
    onRefused: (what) => console.log(REFUSED[what]),
  });
  return consentCredentials(client, given);
}

const REFUSED = {
  unreadable: "This is not the final address: paste the whole address, which starts with http://127.0.0.1.",
  foreign: "A response to another request (with another state) was ignored: open the address above.",
};

const ELSEWHERE =
  "If the browser runs on another machine, it ends at a page that it cannot show: paste the address of that page here.\n";
