import Type, { type Static } from "typebox";
import { publicKeyOf, secretDigests, standardSecrets } from "../../shared/access/signingKeys.ts";
import { type Frozen, text, token } from "../nodes.ts";

/** The pattern of the name of an Amazon SNS topic: its partition, its region, an account and the topic's own name. */
export const TOPIC_ARN_PATTERN = "^arn:(aws|aws-cn|aws-us-gov):sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$";

/** The pattern of header names. */
const HEADER_PATTERN = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";

const optional = (description: string, extra: object = {}) => Type.Optional(text({ description, ...extra }));

/** The sender's own authentication. `authFaults` decides which keys belong to which type. */
export const AuthSchema = Type.Object(
  {
    type: Type.Enum(["token", "github", "stripe", "slack", "standard-webhooks", "hmac", "sendgrid", "sns"], {
      description: "How the sender authenticates: with a `token`, or with a signature of this kind.",
    }),
    token: Type.Optional(token({ description: "For `token`: the token of this sender. At least 16 characters." })),
    secret: optional(
      "For the types with a secret of both sides, all except `token`, `sendgrid` and `sns`: the secret with which the sender signs, as its settings page shows it.",
      { secret: true },
    ),
    publicKey: optional(
      "For `sendgrid`: the verification key of the signed event webhook, as its settings page shows it.",
    ),
    topicArns: Type.Optional(
      Type.Array(Type.String({ pattern: TOPIC_ARN_PATTERN }), {
        minItems: 1,
        examples: [["arn:aws:sns:eu-central-1:123456789012:alarms"]],
        description: "For `sns`: the topics whose messages are accepted.",
      }),
    ),
    shared: Type.Optional(
      Type.Boolean({
        description:
          "Set it to `true` in every mapping that uses the same secret; otherwise the configuration is refused. A request signed for one of these mappings is valid for the others as well.",
      }),
    ),
    header: optional(
      "For `hmac`: the header that contains the signature. For `token`: a header in which the token may arrive besides `Authorization`.",
      {
        pattern: HEADER_PATTERN,
        examples: ["x-signature"],
      },
    ),
    algorithm: Type.Optional(
      Type.Enum(["sha1", "sha256", "sha512"], {
        description: "For `hmac`: the hash algorithm. The default is `sha256`.",
      }),
    ),
    encoding: Type.Optional(
      Type.Enum(["hex", "base64", "base64url"], {
        description: "For `hmac`: the encoding of the signature. The default is `hex`.",
      }),
    ),
    prefix: optional("For `hmac`: the text before the signature in the header.", { examples: ["sha256="] }),
    timestampHeader: optional(
      "For `hmac`: the header with the Unix time of the signature. The signed text is then the time, a full stop and the body.",
      { pattern: HEADER_PATTERN, examples: ["x-timestamp"] },
    ),
    toleranceSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 43_200, // accepted messages are remembered for 24 hours, twice this tolerance
        description:
          "Maximum difference between the signed time and now, in seconds. The default is 300, for `sns` 3600.",
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ type: "github", secret: "the secret of the webhook" }],
    description: "How this sender authenticates instead of the hook token. Requires `match.path`.",
  },
);

type Auth = Frozen<Static<typeof AuthSchema>>;

const HMAC_KEYS = ["header", "algorithm", "encoding", "prefix", "timestampHeader"] as const;
const NEEDED: Readonly<Record<Auth["type"], readonly (keyof Auth)[]>> = {
  token: ["token"],
  github: ["secret"],
  stripe: ["secret"],
  slack: ["secret"],
  "standard-webhooks": ["secret"],
  hmac: ["secret", "header"],
  sendgrid: ["publicKey"],
  sns: ["topicArns"],
};
const ALLOWED: Readonly<Record<Auth["type"], readonly (keyof Auth)[]>> = {
  token: ["token", "shared", "header"],
  github: ["secret", "shared"],
  stripe: ["secret", "shared", "toleranceSeconds"],
  slack: ["secret", "shared", "toleranceSeconds"],
  "standard-webhooks": ["secret", "shared", "toleranceSeconds"],
  hmac: ["secret", "shared", "toleranceSeconds", ...HMAC_KEYS],
  sendgrid: ["publicKey", "toleranceSeconds"],
  sns: ["topicArns", "toleranceSeconds"],
};

/** Returns a sentence, beginning with `auth`, for each fault that the schema does not find. */
export function authFaults(auth: Auth, path: string | undefined): (string | false)[] {
  const given = Object.keys(auth).filter((key) => key !== "type") as (keyof Auth)[];
  return [
    path === undefined && "auth needs match.path: add the name under which this sender calls",
    ...NEEDED[auth.type].map((key) => auth[key] === undefined && `auth.${key} is missing: type ${auth.type} needs it`),
    ...given.map(
      (key) => !ALLOWED[auth.type].includes(key) && `auth.${key} has no effect with type ${auth.type}: remove it`,
    ),
    auth.type === "hmac" &&
      auth.toleranceSeconds !== undefined &&
      auth.timestampHeader === undefined &&
      "auth.toleranceSeconds has no effect without auth.timestampHeader: add that, or remove it",
    ownSecretFault(auth),
    auth.publicKey !== undefined &&
      !isEcKey(auth.publicKey) &&
      "auth.publicKey must be the verification key of SendGrid's signed event webhook: base64 without line breaks",
  ];
}

function isEcKey(text: string): boolean {
  try {
    return publicKeyOf(text).asymmetricKeyType === "ec";
  } catch {
    return false;
  }
}

function ownSecretFault({ type, secret }: Auth): string | false {
  const fault = secret === undefined ? null : senderSecretFault(type, secret);
  return fault !== null && `auth.secret ${fault}`;
}

/** Returns why a text cannot be a secret that somebody has issued, to follow its key; null for a usable one. */
export function secretFault(secret: string): string | null {
  if (/^[\r\n]|[\r\n]$/.test(secret)) {
    return "must not begin or end with a line break: a secret that is read from a file often ends in one";
  }
  return /^(["']).*\1$/.test(secret) ? "must not be in quotation marks: remove them" : null;
}

/** Returns why nothing that a sender of this type signs can verify with a secret, to follow its key; null for a usable one. */
function senderSecretFault(type: string, secret: string): string | null {
  const fault = secretFault(secret);
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

/** A mapping with its name in messages. */
interface Authenticated {
  readonly key: string;
  readonly auth?: Auth | undefined;
}

/**
 * Returns a sentence for each mapping whose secret is also used by another mapping or by the service itself. A message that
 * is signed for one of two such mappings is valid for the other as well.
 * @param ownTokens the tokens of the service itself
 */
export function sharedSecretFaults(mappings: readonly Authenticated[], ownTokens: readonly string[]): string[] {
  const own = ownTokens.flatMap((token) => secretDigests({ type: "token", token }));
  const secrets = mappings.flatMap((mapping, index) =>
    mapping.auth ? [{ mapping, auth: mapping.auth, index, digests: secretDigests(mapping.auth) }] : [],
  );
  return secrets.flatMap(({ mapping, auth, index, digests }, i) => {
    const key = `hooks.mappings.${index}.auth.${auth.token === undefined ? "secret" : "token"}`;
    const twin = secrets
      .slice(0, i)
      .find((other) => intersect(digests, other.digests) && !(auth.shared && other.auth.shared));
    return [
      ...(intersect(digests, own)
        ? [`${key} must be another secret than hooks.token and the tokens of server (apiToken, readOnlyToken)`]
        : []),
      ...(twin
        ? [
            `${key} is the secret of two mappings, ${twin.mapping.key} (hooks.mappings.${twin.index}) and ${mapping.key}: give each of them a secret of its own, or set auth.shared to true in both`,
          ]
        : []),
    ];
  });
}

const intersect = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((digest) => others.includes(digest));
