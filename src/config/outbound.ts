import Type, { type Static } from "typebox";
import { readAllowedHost } from "../shared/outbound/allowedHosts.ts";
import { type Check, type Frozen, optionalSection, text, textMap } from "./nodes.ts";

/** The pattern of an entry in a list of hosts: a name, an IP address, or `*.` and a name for everything below it. */
const HOST_PATTERN = "^(\\*\\.)?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*(:[0-9]{1,5})?$|^\\[[0-9A-Fa-f:.]+\\](:[0-9]{1,5})?$";

/** A secret of Standard Webhooks, or a list of them while a new one replaces an old one. */
const signingSecret = (description: string) =>
  Type.Unsafe<string | readonly string[]>({
    type: ["string", "array"],
    minLength: 1,
    items: { type: "string", minLength: 1 },
    minItems: 1,
    maxItems: 2,
    secret: true,
    examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    description: `${description} \`whsec_\` and 24 to 64 bytes in base64. With a list of two, each request has a signature with each of them.`,
  });

/** A target of `notify` rules. */
export const WebhookSchema = Type.Object(
  {
    url: text({
      pattern: "^https?://.",
      secret: "path",
      examples: ["https://ci.example.com/signalbox"],
      description: "Address to which events are sent.",
    }),
    secret: signingSecret("Secret with which requests are signed."),
    headers: Type.Optional(
      textMap({
        secret: true,
        examples: [{ "X-Env": "prod" }],
        description: "Headers that are added to each request.",
      }),
    ),
    include: Type.Array(Type.Enum(["input", "output", "metadata", "steps", "reply"]), {
      default: [],
      uniqueItems: true,
      examples: [["output"]],
      description: "Parts of the job or run that the data of the event contains besides a list row.",
    }),
    format: Type.Enum(["standard", "cloudevents"], {
      default: "standard",
      description:
        "Format of the body: `standard` is Standard Webhooks, `cloudevents` is CloudEvents 1.0 in structured mode. Both are signed in the same way.",
    }),
  },
  { additionalProperties: false, description: "Sends each event to a web server as a signed request." },
);

/** The section `outbound`. */
export const OutboundSchema = optionalSection(
  {
    allowedHosts: Type.Array(Type.String({ pattern: HOST_PATTERN }), {
      minItems: 1,
      examples: [["ci.example.com", "*.internal"]],
      description:
        "Hosts to which the `callbackUrl` of a request may point. `*.` stands for every name below a domain, and never for an IP address. Without a port, only the default port of the scheme is allowed. A name must resolve to a public address; a name without `*.`, or below `internal`, `local` or `home.arpa`, also to a private one. To call this machine, list `localhost` or the address itself.",
    }),
    secret: signingSecret("Secret with which requests to a `callbackUrl` are signed."),
  },
  "Requests to addresses that callers choose. Without it every `callbackUrl` is refused.",
);

type Webhook = Frozen<Static<typeof WebhookSchema>>;
type Outbound = Frozen<Static<typeof OutboundSchema>>;

export const outboundChecks: readonly Check<{ readonly outbound?: Outbound }>[] = [
  { reads: ["outbound"], find: outboundFaults },
];

/** Returns a sentence for each fault in `outbound` that the schema does not find. */
function outboundFaults({ outbound }: { readonly outbound?: Outbound }): string[] {
  if (!outbound) return [];
  const { allowedHosts, secret } = outbound;
  const hostFaults = allowedHosts.flatMap((entry, i) =>
    readAllowedHost(entry) === null
      ? [
          `outbound.allowedHosts.${i} matches no address: name a host, *. and a domain, or an IP address, with a port from 1 to 65535 or without one`,
        ]
      : [],
  );
  return [...hostFaults, ...signingSecretFaults("outbound.secret", secret)];
}

/** Headers of a webhook that the service or the connection sets. */
const OWN_HEADERS = [
  "content-type",
  "content-length",
  "content-encoding",
  "user-agent",
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
  "expect",
];

/** Returns a sentence, beginning with `to.webhook`, for each fault that the schema does not find. */
export function webhookFaults({ url, secret, headers = {} }: Webhook): (string | false)[] {
  return [
    addressFault(url, Object.keys(headers)),
    ...signingSecretFaults("to.webhook.secret", secret),
    ...Object.entries(headers).map(([name, value]) => headerFault("to.webhook.headers", name, value)),
  ];
}

function addressFault(address: string, headers: readonly string[]): string | false {
  const url = URL.parse(address);
  if (!url) return "to.webhook.url is not a valid URL";
  if (url.username + url.password !== "" && headers.some((name) => name.toLowerCase() === "authorization")) {
    return "to.webhook.url must have no user and password beside to.webhook.headers.Authorization, which they would replace: remove one of them";
  }
  return url.hash !== "" && "to.webhook.url must have no fragment (#…): it is never sent";
}

/** Returns a sentence about a header that cannot be sent. @param section the key of the map */
export function headerFault(section: string, name: string, value: string): string | false {
  const key = `${section}.${name || '""'}`;
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    return `${key} is not a valid name of a header: use letters, digits and -`;
  }
  if (OWN_HEADERS.includes(name.toLowerCase())) return `${key} is set by Signalbox itself: remove it`;
  return (
    !/^[\t\x20-\x7e\x80-\xff]*$/.test(value) &&
    `${key} must have no line breaks, other control characters, or characters beyond Latin-1`
  );
}

/**
 * The lengths of a key in Standard Webhooks, in bytes:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/**
 * Returns a sentence, beginning with the key, for each fault in the secrets with which Signalbox signs its own requests: one
 * secret, or a list of them while a new one replaces an old one.
 */
function signingSecretFaults(key: string, secret: string | readonly string[]): string[] {
  if (typeof secret === "string") return keyed(key, secretFault(secret));
  return secret.flatMap((one, i) => {
    const fault = secretFault(one);
    const twin = secret.indexOf(one);
    const repeated = "is the same secret again: list the new secret and the old one, or give only one";
    return keyed(`${key}.${i}`, fault ?? (twin < i ? repeated : null));
  });
}

const keyed = (key: string, fault: string | null): string[] => (fault === null ? [] : [`${key} ${fault}`]);

const PREFIX = "whsec_";

/** Returns the bytes of a secret; undefined when it is not strict base64, which the libraries of receivers require. */
function bytesOf(secret: string): Buffer | undefined {
  const encoded = secret.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, "base64");
  return secret.startsWith(PREFIX) && bytes.toString("base64") === encoded ? bytes : undefined;
}

const MAKE = `create one with \`echo ${PREFIX}$(openssl rand -base64 32)\``;

function secretFault(secret: string): string | null {
  const bytes = bytesOf(secret);
  if (!bytes) return `must be ${PREFIX} and base64: ${MAKE}`;
  if (bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES) return null;
  return `must have ${MIN_BYTES} to ${MAX_BYTES} bytes after ${PREFIX}, and has ${bytes.length}: ${MAKE}`;
}
