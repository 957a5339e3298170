import Type from "typebox";
import { LOGIN_PATH } from "../auth/apiAuth.ts";
import * as examples from "../examples/service.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;
const NoContent = Type.Unsafe<undefined>({ not: {} });

const getSession = route({
  method: "get",
  path: LOGIN_PATH,
  authContext: "login",
  operationId: "getSession",
  tag: "session",
  summary: "Get the log-in of this browser",
  description:
    "Returns whether a token is required and what this browser may do. The dashboard calls it when it starts.",
  example: examples.getSession,
  schemas: {},
  answers: {
    200: Type.Object(
      {
        needsToken: Type.Boolean({ description: "Whether a token is configured, so that a browser has to log in." }),
        access: s.nullable(Type.Enum(["full", "read"]), {
          description: "`full` or `read`. Null if the browser has to log in first.",
        }),
      },
      closed,
    ),
  },
  errors: [],
  async handler({ authContext: { needsToken, access } }) {
    return { status: 200, body: { needsToken, access } };
  },
});

const logIn = route({
  method: "post",
  path: LOGIN_PATH,
  authContext: "login",
  operationId: "logIn",
  tag: "session",
  summary: "Log in",
  description:
    "Exchanges the API token or the read-only token for a cookie, which authenticates this browser under `/api` for 30 days. Programs send the token in the `Authorization` header instead.",
  example: examples.logIn,
  schemas: {
    body: Type.Object(
      { token: Type.String({ minLength: 1, maxLength: 1_024, description: "The API token or the read-only token." }) },
      closed,
    ),
  },
  answers: { 204: NoContent },
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
  tag: "session",
  summary: "Log out",
  description: "Invalidates the cookie of this browser and removes it.",
  example: examples.logOut,
  schemas: {},
  answers: { 204: NoContent },
  errors: [],
  async handler({ authContext: { cookie, logOut } }, { live }) {
    const headers = { "Set-Cookie": await logOut() };
    if (cookie !== undefined) live.endLogin(cookie);
    return { status: 204, headers, body: undefined };
  },
});

export const loginRoutes = [getSession, logIn, logOut];
