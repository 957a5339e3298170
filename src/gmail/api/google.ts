import type { Config } from "../../shared/config/schema/config.ts";
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

/** What a listener asks. */
export interface Google {
  readonly gmail: GmailApi;
  readonly pubsub: PubSub;
}

/**
 * Reads the credentials; nothing is asked yet.
 * @throws StartError when the file cannot be used
 */
export function connectGoogle(settings: GmailConfig): Google {
  const { credentialsFile, apiUrl, pubsubUrl } = settings;
  const auth = authorize(readCredentials(credentialsFile), settings);
  return {
    // One page a listing, so that the cursor moves with each of them.
    gmail: createGmailApi(auth.gmail, { url: apiUrl, maxPages: 1 }),
    pubsub: createPubSub(auth.pubsub, pubsubUrl === undefined ? {} : { url: pubsubUrl }),
  };
}

/** As whom each is asked: a service account reads the mailbox in its owner's name, a consent is the owner's already. */
export function authorize(
  credentials: GoogleCredentials,
  { account, tokenUrl }: GmailConfig,
): { readonly gmail: GoogleAuth; readonly pubsub: GoogleAuth } {
  const own = createGoogleAuth({ credentials, tokenUrl, scopes: [PUBSUB_SCOPE] });
  if (credentials.type !== "service_account") return { gmail: own, pubsub: own };
  return { gmail: createGoogleAuth({ credentials, tokenUrl, scopes: [GMAIL_SCOPE], subject: account }), pubsub: own };
}
