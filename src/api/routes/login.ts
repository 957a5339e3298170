import Type from "typebox";
import { Access } from "../../wire/access.ts";
import * as s from "../../wire/blocks.ts";
import { LOGIN_PATH } from "../auth/apiAuth.ts";
import { jobsFor, mayDo, scopesOf } from "../auth/caller.ts";
import * as examples from "../examples/service.ts";
import { route } from "../routing/route.ts";
import * as q from "../schemas/requests.ts";

const getSession = route({
  method: "get",
  path: LOGIN_PATH,
  authContext: "login",
  operationId: "getSession",
  scopes: [],
  tag: "session",
  summary: "Get the log-in of this browser",
  description:
    "Returns whether a token is required and what this browser may do. The dashboard calls it when it starts.",
  example: examples.getSession,
  schemas: {},
  answers: { 200: Access },
  errors: [],
  async handler({ authContext: { needsToken, caller, provider } }, { hooks, hooksUrl }) {
    const access = caller && (mayDo(caller, "admin") ? ("full" as const) : ("read" as const));
    const { actor = "anonymous", person, grants = [] } = caller ?? {};
    const name = person?.name ?? (actor === "anonymous" ? null : actor.replace(/^cookie:/, ""));
    const jobs = caller && jobsFor(caller, "jobs:read");
    const prefixes = jobs?.map((group) => ("idPrefix" in group ? group.idPrefix : group.jobId)) ?? null;
    const hooksUrlOrNull = caller && hooks.enabled ? hooksUrl : null;
    const by = person ? BY[person.setting] : name === null ? null : ("token" as const);
    return {
      status: 200,
      body: {
        needsToken,
        access,
        name,
        by,
        scopes: scopesOf({ grants }),
        jobIdPrefixes: prefixes,
        hooksUrl: hooksUrlOrNull,
        provider,
      },
    };
  },
});

const BY = { "server.oidc": "provider", "server.userHeader": "proxy" } as const;

const logIn = route({
  method: "post",
  path: LOGIN_PATH,
  authContext: "login",
  operationId: "logIn",
  scopes: [],
  tag: "session",
  summary: "Log in",
  description:
    "Exchanges a token with the scope `jobs:read`, such as the API token, the read-only token or the token of a job, for a cookie. The cookie authenticates this browser under `/api` for 30 days, or until the token expires. Programs send the token in the `Authorization` header instead.",
  example: examples.logIn,
  schemas: {
    body: Type.Object(
      { token: Type.String({ minLength: 1, maxLength: 2_096, description: "A token with the scope `jobs:read`." }) },
      s.named("LoginRequest"),
    ),
  },
  answers: { 204: q.NoContent },
  errors: [],
  async handler({ body, authContext }) {
    const cookie = await authContext.logIn(body.token);
    return { status: 204, headers: { "Set-Cookie": cookie }, body: undefined };
  },
});

const logOut = route({
  method: "delete",
  path: LOGIN_PATH,
  authContext: "login",
  operationId: "logOut",
  scopes: [],
  tag: "session",
  summary: "Log out",
  description: "Invalidates the cookie of this browser and removes it.",
  example: examples.logOut,
  schemas: {},
  answers: { 204: q.NoContent },
  errors: [],
  async handler({ authContext: { cookie, logOut } }, { live }) {
    const headers = { "Set-Cookie": await logOut() };
    if (cookie !== undefined) live.endLogin(cookie);
    return { status: 204, headers, body: undefined };
  },
});

export const loginRoutes = [getSession, logIn, logOut];
