import { isObject } from "../../shared/text/json.ts";
import { standardSecrets } from "../formats/senderKeys.ts";
import { type Config, configKeys } from "../schema/config.ts";

/** Returns why a text cannot be a secret that somebody has issued, to follow its key; null for a usable one. */
function textFault(secret: string): string | null {
  if (/^[\r\n]|[\r\n]$/.test(secret)) {
    return "must not begin or end with a line break: a secret that is read from a file often ends in one";
  }
  return /^(["']).*\1$/.test(secret) ? "must not be in quotation marks: remove them" : null;
}

const SECRET_KEYS = configKeys().flatMap(([key, { secret, type }]) =>
  // checks/notify.ts checks the secrets that sign requests.
  secret === true && type?.includes("string") && key !== "outbound.secret" ? [key] : [],
);

/** Returns a sentence for each secret outside the mappings that no service can have issued. */
export function secretTextFaults(config: Config): string[] {
  return SECRET_KEYS.flatMap((key) => {
    const value = key.split(".").reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), config);
    const texts = [value].flat().filter((text) => typeof text === "string");
    return texts.flatMap((text) => textFault(text) ?? []).map((fault) => `${key} ${fault}`);
  });
}

/** Returns a sentence for each header of the model server that no request can carry. */
export function headerFaults({ agents }: Pick<Config, "agents">): string[] {
  const headers = Object.entries(agents.runners.openai?.headers ?? {});
  return headers.flatMap(([name, value]) =>
    /\p{Cc}/u.test(value.replaceAll("\t", " "))
      ? [`agents.runners.openai.headers.${name} must not contain line breaks`]
      : [],
  );
}

/** Returns why nothing that a sender of this type signs can verify with a secret, to follow its key; null for a usable one. */
export function senderSecretFault(type: string, secret: string): string | null {
  const fault = textFault(secret);
  if (fault !== null) return fault;
  if (secret.trim() !== secret) return "must not begin or end with white space: remove it";
  switch (type) {
    case "stripe":
      return /^(?:sk|pk|rk)_(?:live|test)_/.test(secret)
        ? "must be the signing secret of the webhook endpoint (whsec_…), not an API key"
        : null;
    case "slack":
      return /^xox[a-z]-|^xapp-/.test(secret) ? "must be the signing secret of the Slack app, not a token" : null;
    case "standard-webhooks":
      return (
        standardSecrets(secret)
          .map(standardFault)
          .find((one) => one !== null) ?? null
      );
    default:
      return null;
  }
}

function standardFault(secret: string): string | null {
  const [prefix] = /^wh(?:sec|pk|sk)_/.exec(secret) ?? [];
  if (prefix === undefined) return null;
  // The public half of a key pair is no secret, so anybody could sign with it.
  if (prefix !== "whsec_") {
    return `must not begin with ${prefix}: keys of asymmetric signatures are not supported, only a secret that the sender shares (whsec_…)`;
  }
  return /^whsec_[A-Za-z0-9+/]{2,}={0,2}$/.test(secret) ? null : "must be base64 after whsec_";
}
