import type { Config } from "../../config/config.ts";
import { readCredentials } from "../auth/credentials.ts";
import {
  createGoogleAuth,
  GMAIL_SCOPE,
  type GoogleAuth,
  type GoogleCredentials,
  PUBSUB_SCOPE,
} from "../auth/googleAuth.ts";
import { createGmailApi, type GmailApi } from "./gmailApi.ts";
import { createPubSub, type PubSub } from "./pubsub.ts";

export type GmailConfig = NonNullable<Config["hooks"]["gmail"]>;

/** Addresses in place of Google's own: a test seam, which no setting reaches. */
export interface GoogleAddresses {
  readonly gmail?: string;
  readonly pubsub?: string;
  readonly token?: string;
}

/** The Google services that a listener uses. */
export interface Google {
  readonly gmail: GmailApi;
  readonly pubsub: PubSub;
}

/**
 * Reads the credentials and creates the clients. Sends no request.
 * @throws StartError if the credentials file is not usable
 */
export function connectGoogle(settings: GmailConfig, addresses: GoogleAddresses = {}): Google {
  const auth = authorize(readCredentials(settings.credentialsFile), settings, addresses.token);
  return {
    // One page per listing, so that the cursor advances with each page.
    gmail: createGmailApi(auth.gmail, { url: addresses.gmail, maxPages: 1 }),
    pubsub: createPubSub(auth.pubsub, { url: addresses.pubsub }),
  };
}

/**
 * Creates the authentication for Gmail and Pub/Sub. A service account impersonates the mailbox's owner for Gmail; a consent
 * is the owner's own.
 */
export function authorize(
  credentials: GoogleCredentials,
  { account }: GmailConfig,
  tokenUrl?: string,
): { readonly gmail: GoogleAuth; readonly pubsub: GoogleAuth } {
  const own = createGoogleAuth({ credentials, tokenUrl, scopes: [PUBSUB_SCOPE] });
  if (credentials.type !== "service_account") return { gmail: own, pubsub: own };
  return { gmail: createGoogleAuth({ credentials, tokenUrl, scopes: [GMAIL_SCOPE], subject: account }), pubsub: own };
}
