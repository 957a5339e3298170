import type { Config } from "../shared/configSchema.ts";
import { readCredentials } from "./credentials.ts";
import { createGmailApi, type GmailApi } from "./gmailApi.ts";
import { createGoogleAuth, GMAIL_SCOPE, PUBSUB_SCOPE } from "./googleAuth.ts";
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
export function connectGoogle({ account, credentialsFile, apiUrl, pubsubUrl, tokenUrl }: GmailConfig): Google {
  const credentials = readCredentials(credentialsFile);
  const own = createGoogleAuth({ credentials, tokenUrl, scopes: [PUBSUB_SCOPE] });
  // A service account reads the mailbox in its owner's name; a consent is the owner's already.
  const owners =
    credentials.type === "service_account"
      ? createGoogleAuth({ credentials, tokenUrl, scopes: [GMAIL_SCOPE], subject: account })
      : own;
  return {
    // One page a listing, so that the cursor moves with each of them.
    gmail: createGmailApi(owners, { url: apiUrl, maxPages: 1 }),
    pubsub: createPubSub(own, pubsubUrl === undefined ? {} : { url: pubsubUrl }),
  };
}
