import Type from "typebox";
import * as s from "./blocks.ts";

/** The access of a browser. */
export const Access = Type.Object(
  {
    needsToken: Type.Boolean({ description: "Whether a token is configured, so that a browser has to log in." }),
    access: s.nullable(Type.Enum(["full", "read"], { title: "LoginAccess" }), {
      description:
        "`full` with the scope `admin`, otherwise `read`: see `scopes`. Null if the browser has to log in first.",
    }),
    name: s.nullable(Type.String(), {
      description: "Name of the token with which the browser logged in. Null without a log-in.",
    }),
    scopes: Type.Array(Type.String(), { description: "The scopes of the log-in. Empty without a log-in." }),
    jobIdPrefix: s.nullable(Type.String(), {
      description:
        "Beginning of the ids of the jobs that the log-in allows; the whole id after a log-in with the token of a job. Null for all jobs.",
    }),
    hooksUrl: s.nullable(Type.String(), {
      description:
        "Address of the hooks, beginning with `server.publicUrl`; only a path without that setting. Null if hooks are off, and before the log-in.",
    }),
  },
  s.named("Login"),
);
