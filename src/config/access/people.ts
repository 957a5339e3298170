import ipaddr from "ipaddr.js";
import Type, { type Static } from "typebox";
import { isLoopback } from "../../shared/address.ts";
import { type Check, type Frozen, optionalSection, text } from "../nodes.ts";
import { grantFaults, grantKeys, type ScopedHooks } from "./grant.ts";

/** Names without underscores: proxies and servers take these for dashes. */
const HEADER = "^[A-Za-z][A-Za-z0-9-]{0,63}$";

const roles = Type.Array(
  Type.Object(
    {
      groups: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
        minItems: 1,
        uniqueItems: true,
        examples: [["sre"]],
        description: "Groups of which a person needs one, exactly as they arrive.",
      }),
      ...grantKeys,
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 200,
    examples: [
      [
        { groups: ["sre"], scopes: ["admin"] },
        { groups: ["sales"], scopes: ["jobs:read", "gates:answer"], jobs: { idPrefix: "sales/" } },
      ],
    ],
    description:
      "The roles of groups. Each that matches is a grant of its own, with its scopes within its jobs, and whatever any of them allows is allowed.",
  },
);

/** `server.oidc`. */
export const OidcSchema = optionalSection(
  {
    issuer: text({
      pattern: "^https?://[^?#@\\s]+$",
      maxLength: 500,
      examples: ["https://id.example.com/realms/main"],
      description:
        "Address of the provider, exactly as its discovery document names itself (`issuer`). With https, except on loopback.",
    }),
    clientId: text({
      maxLength: 500,
      examples: ["signalbox"],
      description: "Identifier of the service at the provider.",
    }),
    clientSecret: Type.Optional(
      text({
        secret: true,
        examples: ["the-secret-of-the-client"],
        description: "Secret of the service at the provider. Without it the service is a public client.",
      }),
    ),
    groupsClaim: text({
      default: "groups",
      maxLength: 200,
      description: "Claim with the groups of a person, in the ID token or else in the userinfo response.",
    }),
    roles: Type.Optional(roles),
    everyone: Type.Optional(
      Type.Object(grantKeys, {
        additionalProperties: false,
        description: "What a person may do who is in none of the groups. Without it such a person is refused.",
      }),
    ),
    sessionHours: Type.Number({
      default: 12,
      exclusiveMinimum: 0,
      maximum: 720,
      description: "Hours after which a person has to log in again.",
    }),
  },
  "Log-in with the company's account by OpenID Connect, beside the tokens. Requires `server.publicUrl`. Register `{publicUrl}/login/callback` at the provider, and `{publicUrl}/login/ended` for the log-out.",
);

/** `server.userHeader`. */
export const UserHeaderSchema = optionalSection(
  {
    name: text({
      pattern: HEADER,
      examples: ["Remote-User"],
      description: "Header with the name of the person.",
    }),
    groups: Type.Optional(
      text({
        pattern: HEADER,
        examples: ["Remote-Groups"],
        description: "Header with the groups of the person, separated by commas, or by `|` if it has one.",
      }),
    ),
    from: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: 100,
      examples: [["10.0.0.0/8"]],
      description:
        "Networks of the proxies whose headers count, as addresses or in CIDR notation. The address of the connection is compared, never `X-Forwarded-For`. Every program in these networks can act as anybody.",
    }),
    roles,
  },
  "Log-in by an authenticating proxy in front, which sends the name of the person in a header. From anybody else the header is ignored.",
);

export type OidcConfig = Frozen<Static<typeof OidcSchema>>;
export type UserHeaderConfig = Frozen<Static<typeof UserHeaderSchema>>;
export type RoleConfig = NonNullable<OidcConfig["roles"]>[number];

interface People extends ScopedHooks {
  readonly server: {
    readonly publicUrl?: string;
    readonly oidc?: OidcConfig;
    readonly userHeader?: UserHeaderConfig;
  };
}

export const peopleChecks: readonly Check<People>[] = [
  {
    reads: ["server.oidc", "server.publicUrl", "hooks.mappings"],
    find: ({ server: { oidc, publicUrl }, hooks }) => [
      ...(oidc ? oidcFaults(oidc, publicUrl).map((fault) => fault && `server.oidc.${fault}`) : []),
      ...rolesFaults("server.oidc", oidc?.roles, { hooks }),
      ...(oidc?.everyone ? grantFaults(oidc.everyone, { hooks }) : []).map(
        (fault) => fault && `server.oidc.everyone.${fault}`,
      ),
    ],
  },
  {
    reads: ["server.userHeader", "hooks.mappings"],
    find: ({ server: { userHeader }, hooks }) => [
      ...(userHeader?.from ?? []).map((network, i) => {
        const fault = networkFault(network);
        return fault && `server.userHeader.from.${i} ${fault}`;
      }),
      ...rolesFaults("server.userHeader", userHeader?.roles, { hooks }),
    ],
  },
];

function oidcFaults({ issuer, roles = [], everyone }: OidcConfig, publicUrl: string | undefined) {
  const url = URL.parse(issuer);
  const isLocal = (address: URL | null) => isLoopback(address?.hostname.replace(/^\[|\]$/g, "") ?? "");
  return [
    !url && "issuer is not a valid URL",
    url?.protocol === "http:" &&
      !isLocal(url) &&
      "issuer must begin with https: tokens and secrets would pass in clear text",
    issuer.includes("/.well-known/") && "issuer must be the issuer itself: remove /.well-known/ and what follows it",
    /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)(\/|$)/.test(issuer) &&
      "issuer must name your tenant: this one lets people of every company in",
    publicUrl === undefined &&
      "issuer needs server.publicUrl, the address to which the provider sends people back: set it",
    publicUrl?.startsWith("http:") &&
      !isLocal(URL.parse(publicUrl)) &&
      "issuer needs a server.publicUrl with https: the cookie of the log-in would pass in clear text",
    roles.length === 0 && !everyone && "roles is empty, so that nobody could do anything: add a role, or everyone",
  ];
}

const rolesFaults = (section: string, roles: readonly RoleConfig[] = [], hooks: ScopedHooks) =>
  roles.flatMap((role, i) => grantFaults(role, hooks).map((fault) => fault && `${section}.roles.${i}.${fault}`));

function networkFault(network: string): string | false {
  if (!ipaddr.isValid(network) && !ipaddr.isValidCIDR(network))
    return "must be an address or a network such as 10.0.0.0/8";
  if (/\/0+$/.test(network)) return "must not be everybody: name the networks of the proxies";
  return /^::ffff:/i.test(network) && "must be written as an IPv4 address or network";
}
