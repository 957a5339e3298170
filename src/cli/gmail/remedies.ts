import { GoogleError } from "../../gmail/api/googleError.ts";
import { GMAIL_SCOPE, PUBSUB_SCOPE } from "../../gmail/auth/googleAuth.ts";
import { GMAIL_PUBLISHER } from "../../gmail/setup/pubsubSetup.ts";
import { StartError } from "../../shared/process/lifecycle.ts";

export type StepName =
  | "consent"
  | "credentials"
  | "account"
  | "topic"
  | "publisher"
  | "subscription"
  | "label"
  | "watch"
  | "configuration";

/** Names for the messages about failures. */
export interface SetupNames {
  readonly account: string;
  /** The Google Cloud project, if it is known. */
  readonly project: string | undefined;
  /** Undefined for a consent. */
  readonly serviceAccount: { readonly email: string; readonly clientId: string | undefined } | undefined;
}

/** Returns the fault of a step and its remedy, for the user. Rethrows unexpected errors. */
export function explainFailure(step: StepName, thrown: unknown, names: SetupNames): string {
  if (thrown instanceof StartError) return thrown.message;
  if (thrown instanceof GoogleError) return `${thrown.reason} ${remedy(step, thrown, names)}`;
  throw thrown;
}

function remedy(step: StepName, error: GoogleError, names: SetupNames): string {
  const { project } = names;
  const place = project ? `the project ${project}` : "the Google Cloud project of the OAuth client";
  if (has(error, "SERVICE_DISABLED", "accessNotConfigured")) return enable(step, place, project);
  if (error.kind === "rate-limited") return "A quota is exhausted: run the command again later.";
  if (error.kind === "transient") return "The error is temporary: run the command again later.";
  if (error.kind === "authorization") return authorize(error, names);
  const who = names.serviceAccount?.email ?? names.account;
  if (error.status === 403 && step === "account")
    return `Gmail may be turned off for ${names.account}: ask its administrator.`;
  if (error.status === 403 && step === "watch") {
    return `Gmail is not allowed to publish to the topic yet: a grant takes effect after some minutes, so run the command again then. If the step publisher could not check it, ask an owner of ${place} to grant roles/pubsub.publisher on the topic to ${GMAIL_PUBLISHER}.`;
  }
  if (error.status === 403) {
    const role = step === "publisher" ? "Pub/Sub Admin (roles/pubsub.admin)" : "Pub/Sub Editor (roles/pubsub.editor)";
    return `In ${place}, ${who} needs the role ${role}: ask its owner to grant it, or pass another project with --project.`;
  }
  if (error.status === 404)
    return `The project does not exist, or ${who} has no access to it: pass the right one with --project.`;
  if (step === "publisher" && has(error, "FAILED_PRECONDITION")) {
    return `A policy of the organization (domain restricted sharing, iam.allowedPolicyMemberDomains) rejects the account of Gmail: ask an administrator for an exception for ${place}, or pass --poll-only, which needs no topic.`;
  }
  if (step === "subscription" && error.status === undefined) return "Pass another one with --subscription.";
  if (step === "label")
    return "--label must be the id of a label, such as INBOX; your own labels have ids such as Label_7.";
  if (step === "watch" && error.status === 400) {
    return "Gmail publishes only to a topic in the project of the OAuth client or the service account (--project), and --label must be the id of a label, such as INBOX.";
  }
  return "Run the command again. The guide explains what each step needs.";
}

function enable(step: StepName, place: string, project: string | undefined): string {
  const isGmail = step === "account" || step === "label" || step === "watch";
  const [api, service] = isGmail ? ["Gmail API", "gmail"] : ["Cloud Pub/Sub API", "pubsub"];
  const query = project ? `?project=${project}` : "";
  const address = `https://console.cloud.google.com/apis/library/${service}.googleapis.com${query}`;
  return `Enable the ${api} in ${place} at ${address}, wait a minute, and run the command again.`;
}

function authorize(error: GoogleError, { serviceAccount, account }: SetupNames): string {
  if (!serviceAccount) {
    if (has(error, "invalid_client", "unauthorized_client")) {
      return "Google rejected this OAuth client: download its JSON file again and pass it with --client.";
    }
    return "Run the command with --again to give a new consent, and select every permission.";
  }
  if (has(error, "unauthorized_client", "access_denied")) {
    const { clientId, email } = serviceAccount;
    return `In the Workspace admin console, under domain-wide delegation, allow ${clientId ? `the client ${clientId}` : email} the scope ${GMAIL_SCOPE}, and run the command again after some minutes.`;
  }
  return `Google rejected the key of the service account, or its domain has no ${account}: check the account, or pass a new key with --credentials (its own scope is ${PUBSUB_SCOPE}).`;
}

const has = ({ codes }: GoogleError, ...expected: string[]) => codes.some((code) => expected.includes(code));
