import { resolveModel } from "../formats/modelList.ts";
import { GMAIL_PRESET, GMAIL_SESSIONS, sessionKeyFault } from "../formats/sessionKey.ts";
import type { Config } from "../schema/config.ts";
import { mappingKey } from "./mappings.ts";

/** The default of `hooks.gmail.renewEveryMinutes`, which counts as not set. */
const RENEW_DEFAULT = 720;

/** Returns a sentence for each fault in `hooks.gmail` and its preset that the schema does not find. */
export function gmailFaults({ hooks, agents }: Config): (string | false)[] {
  const { gmail, mappings, presets, allowedSessionKeyPrefixes } = hooks;
  const own = mappings.find(({ match }) => matchesMail(match?.path) && matchesMail(match?.source));
  const prefixFault =
    !own &&
    presets.includes("gmail") &&
    sessionKeyFault(GMAIL_SESSIONS, allowedSessionKeyPrefixes, GMAIL_PRESET) !== null &&
    `hooks.allowedSessionKeyPrefixes must have one for ${GMAIL_SESSIONS}, which the sessions of the preset gmail begin with`;
  if (!gmail) return [prefixFault]; // the preset also accepts mails from other listeners
  const resolved = resolveModel(agents.defaults, gmail.model);
  return [
    (gmail.topic === undefined) !== (gmail.subscription === undefined) &&
      "hooks.gmail.topic and hooks.gmail.subscription go together: set both, or neither to read the mailbox every few minutes",
    !own && !presets.includes("gmail") && 'hooks.gmail needs a mapping for its mails: add "gmail" to hooks.presets',
    prefixFault,
    gmail.keepRequests &&
      hooks.keepRequests === undefined &&
      "hooks.gmail.keepRequests has no effect without hooks.keepRequests: set how long requests are kept, or remove it",
    gmail.topic === undefined &&
      gmail.renewEveryMinutes !== RENEW_DEFAULT &&
      "hooks.gmail.renewEveryMinutes has no effect without hooks.gmail.topic: remove it, or set topic and subscription",
    gmail.model !== undefined && !resolved.ok && `hooks.gmail.model must be one of ${resolved.allowed.join(", ")}`,
    ...(["apiUrl", "pubsubUrl", "tokenUrl", "consentUrl"] as const).map(
      (key) => typeof gmail[key] === "string" && !URL.canParse(gmail[key]) && `hooks.gmail.${key} is not a valid URL`,
    ),
    ...(["model", "thinking", "allowUnsafeExternalContent"] as const).map(
      (key) =>
        own !== undefined &&
        Boolean(gmail[key]) &&
        `hooks.gmail.${key} has no effect, because the mapping ${mappingKey(own)} handles the mails: set it in that mapping`,
    ),
  ];
}

/** Returns whether a mapping's path or source matches mails, whose path and source are `gmail`. */
const matchesMail = (wanted: string | undefined) => wanted === undefined || wanted === "gmail";
