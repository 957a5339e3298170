import Type from "typebox";
import * as s from "./blocks.ts";

/** The access of a browser. */
export const Access = Type.Object(
  {
    needsToken: Type.Boolean({ description: "Whether a browser has to log in, because nobody is let in anonymously." }),
    access: s.nullable(Type.Enum(["full", "read"], { title: "LoginAccess" }), {
      description:
        "`full` with the scope `admin`, otherwise `read`: see `scopes`. Null if the browser has to log in first.",
    }),
    name: s.nullable(Type.String(), {
      description: "Name of the person, or of the token with which the browser logged in. Null without a log-in.",
    }),
    by: s.nullable(Type.Enum(["token", "provider", "proxy"], { title: "LoginBy" }), {
      description:
        "`token`, `provider` for the company's account (`server.oidc`), or `proxy` (`server.userHeader`). Null without a log-in.",
    }),
    scopes: Type.Array(Type.String(), { description: "The scopes of the log-in. Empty without a log-in." }),
    jobIdPrefixes: s.nullable(Type.Array(Type.String()), {
      description:
        "Beginnings of the ids of the jobs that the log-in may read; the whole id after a log-in with the token of a job. Null for all jobs, and before the log-in.",
    }),
    hooksUrl: s.nullable(Type.String(), {
      description:
        "Address of the hooks, beginning with `server.publicUrl`; only a path without that setting. Null if hooks are off, and before the log-in.",
    }),
    provider: s.nullable(
      Type.Object(
        {
          name: Type.String({ description: "Host name of the provider." }),
          url: Type.String({ description: "Address where the log-in begins. Takes the page to go on to as `to`." }),
        },
        s.named("LoginProvider"),
      ),
      { description: "The log-in with the company's account (`server.oidc`). Null if it is not configured." },
    ),
  },
  s.named("Login"),
);
