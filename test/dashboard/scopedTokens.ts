/** The tokens of a service with scopes: of everybody, of a team that reads its own jobs, and of an operator. */
export const API = "an-api-token-of-length";
export const CI = "the-token-of-the-ci-team";
export const ADMIN = "the-token-of-an-operator";

/** The configuration with these tokens. */
export const config = JSON.stringify({
  server: {
    apiToken: API,
    tokens: [
      { name: "ci-team", token: CI, scopes: ["jobs:read"], jobs: { idPrefix: "ci/" } },
      { name: "operator", token: ADMIN, scopes: ["admin"] },
    ],
  },
});
