import Type, { type Static } from "typebox";
import { isLoopback } from "../shared/address.ts";
import { OidcSchema, UserHeaderSchema } from "./access/people.ts";
import { needsLogin } from "./access/tokenList.ts";
import { TokenSchema } from "./access/tokens.ts";
import { type Check, type Frozen, section, text, token, tokens } from "./nodes.ts";

/** The paths that health checks request; they also answer outside of `server.basePath`. */
export const PROBES: readonly string[] = ["/healthz", "/readyz"];

/** ASCII only: browsers send other letters in their `xn--…` form. */
const HOST_NAME = "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$";

/** The section `server`. */
export const ServerSchema = section(
  {
    port: Type.Integer({
      default: 3000,
      minimum: 0,
      maximum: 65535,
      env: "PORT",
      description: "Port on which the API and the dashboard listen. `0` selects a free port.",
    }),
    host: text({
      default: "127.0.0.1",
      env: "HOST",
      description:
        "Address on which the API listens. An address other than loopback requires `server.apiToken`, `server.oidc` or `server.userHeader`. For example `0.0.0.0` for all interfaces. On Heroku, Render, Railway and Fly.io the default is `0.0.0.0`.",
    }),
    basePath: Type.Optional(
      text({
        pattern: "^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$",
        env: "SIGNALBOX_BASE_PATH",
        examples: ["/signalbox"],
        description:
          "Path below which everything is served, on a host name that is shared with another site. Starts with `/` and does not end with it. A proxy in front must keep this part of the path. Only `/healthz` and `/readyz` also answer without it.",
      }),
    ),
    publicUrl: Type.Optional(
      text({
        pattern: "^https?://[^/?#@\\s]+(/[^?#\\s]*[^/?#\\s])?$",
        env: "SIGNALBOX_PUBLIC_URL",
        examples: ["https://jobs.example.com"],
        description:
          "Address under which people reach the service, for links in messages. It includes `server.basePath` and does not end with `/`. Without it messages have no links.",
      }),
    ),
    apiToken: Type.Optional(
      tokens({
        env: "SIGNALBOX_API_TOKEN",
        description:
          "Token with full access to `/api`. Clients send it as `Authorization: Bearer <token>`. At least 16 characters. Without it, `server.oidc` and `server.userHeader`, `/api` is open to everyone who can connect, which is only allowed on loopback. A list of tokens makes all of them valid, so that a token can be replaced without a gap.",
      }),
    ),
    readOnlyToken: Type.Optional(
      tokens({
        env: "SIGNALBOX_READ_ONLY_TOKEN",
        description:
          "Token that allows reading everything under `/api` except the audit log and the settings, and changing nothing. It also works as the dashboard's log-in. Requires `server.apiToken`, `server.oidc` or `server.userHeader`. At least 16 characters. A list of tokens makes all of them valid.",
      }),
    ),
    tokens: Type.Array(TokenSchema, {
      default: [],
      examples: [
        [
          {
            name: "ci",
            token: "sixteen-or-more-characters-without-spaces",
            scopes: ["jobs:read", "jobs:create"],
            jobs: { idPrefix: "ci/" },
          },
        ],
      ],
      description:
        "Further tokens, each with its own scopes. Requires `server.apiToken`, `server.oidc` or `server.userHeader`.",
    }),
    secret: Type.Optional(
      token({
        env: "SIGNALBOX_SECRET",
        description:
          "Secret that seals job tokens, the log-ins of people, and those of tokens that are configured by their hash. Without it `server.apiToken` seals them, or a secret in the database. A new secret invalidates them. At least 16 characters.",
      }),
    ),
    oidc: OidcSchema,
    userHeader: UserHeaderSchema,
    shareFrameAncestors: Type.Array(
      Type.String({
        pattern: "^(self|https?://(\\*\\.)?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*(:[0-9]{1,5})?)$",
        examples: ["https://wall.example.com"],
      }),
      {
        default: [],
        examples: [["https://wall.example.com"]],
        description:
          "Sites whose pages may show the page of a share link in a frame, such as a wiki or a wall display. `self` is this service. By default no page may.",
      },
    ),
    publicBadges: Type.Array(Type.String({ minLength: 1, maxLength: 1_024, examples: ["Nightly backup"] }), {
      default: [],
      examples: [["Nightly backup"]],
      description:
        "Names of jobs whose badge (`/badge/NAME.svg`) needs no token. Whoever reaches the service sees the state of the newest ended job of such a name.",
    }),
    allowUnauthenticated: Type.Boolean({
      default: false,
      description:
        "Allows an address other than loopback without `server.apiToken`. Set it only if something else, such as a VPN, restricts access.",
    }),
    allowedHosts: Type.Array(Type.String({ pattern: HOST_NAME, examples: ["signalbox.internal"] }), {
      default: [],
      description:
        'Host names, without a port, that requests may use besides IP addresses and `localhost`. Checked only without `server.apiToken`: always on loopback, elsewhere if the list is not empty. For example `["signalbox.internal"]`.',
    }),
    trustProxy: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 10,
      env: "TRUST_PROXY",
      description:
        "Number of reverse proxies in front of the service that set `X-Forwarded-For` and `X-Forwarded-Proto`. `0` ignores these headers. For example `1` behind one nginx.",
    }),
    bodyLimit: Type.Integer({
      default: 4 * 1024 * 1024,
      minimum: 1024,
      maximum: 5 * 1024 * 1024,
      description:
        "Maximum size of a request body of the API in bytes. The maximum is 5 MiB, because a job stores input, metadata and output in one MongoDB document of at most 16 MiB.",
    }),
    maxConnections: Type.Integer({
      default: 10_000,
      minimum: 10,
      maximum: 1_000_000,
      description:
        "Maximum number of open connections of one web process, including browsers and live events. Further connections are closed at once. The limit of open files (`ulimit -n`) must be a few hundred higher.",
    }),
    maxWaiting: Type.Integer({
      default: 1_000,
      minimum: 0,
      maximum: 1_000_000,
      description:
        "Maximum number of requests with `Prefer: wait` that one web process holds at the same time. Further ones are answered at once. Each also counts as a connection. `0` answers all of them at once.",
    }),
    concurrency: Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 64,
      env: "WEB_CONCURRENCY",
      description:
        "Number of web processes that share the port on this machine. For example `4` on a machine with four cores.",
    }),
    shutdownSeconds: Type.Integer({
      default: 25,
      minimum: 1,
      maximum: 600,
      description: "Seconds that a stopping web process waits for requests in progress.",
    }),
  },
  "The HTTP API and the dashboard.",
);

type Server = Frozen<Static<typeof ServerSchema>>;

export const serverChecks: readonly Check<{ readonly server: Server }>[] = [
  {
    reads: ["server.host", "server.apiToken", "server.oidc", "server.userHeader", "server.allowUnauthenticated"],
    find: ({ server }) => [
      !isLoopback(server.host) &&
        !needsLogin(server) &&
        !server.allowUnauthenticated &&
        `server.host is ${server.host}, which other machines can reach, and server.apiToken is not set: set a token, listen on 127.0.0.1, or set server.allowUnauthenticated to true`,
    ],
  },
  {
    reads: ["server.basePath"],
    find: ({ server: { basePath } }) => {
      const probe = PROBES.find((path) => basePath === path || basePath?.startsWith(`${path}/`));
      return [probe && `server.basePath must not begin with ${probe}, which also answers outside of the base path`];
    },
  },
  { reads: ["server.publicUrl", "server.basePath"], find: ({ server }) => [publicUrlFault(server)] },
];

/** Returns a sentence if links in messages would lead to another path than the one at which the service answers. */
function publicUrlFault({ publicUrl, basePath = "" }: Server): string | false {
  if (publicUrl === undefined) return false;
  const url = URL.parse(publicUrl);
  if (!url) return "server.publicUrl is not a valid URL";
  const path = url.pathname.replace(/\/$/, "");
  if (path === basePath) return false;
  return basePath === ""
    ? `server.publicUrl has the path ${path}, and server.basePath is not set: set that too, or remove the path`
    : `server.publicUrl must end with ${basePath}, which is server.basePath`;
}
