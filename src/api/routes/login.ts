import Type from "typebox";
import { LOGIN_PATH } from "../auth/apiAuth.ts";
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
  summary: "What this browser may do",
  schemas: {},
  answers: {
    200: Type.Object(
      {
        needsToken: Type.Boolean({ description: "Whether there is a token to log in with." }),
        access: s.nullable(Type.Enum(["full", "read"]), { description: "Null: log in first." }),
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
  summary: "Log this browser in: a cookie takes the token's place under /api",
  schemas: { body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 1_024 }) }, closed) },
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
  summary: "Log this browser out",
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
