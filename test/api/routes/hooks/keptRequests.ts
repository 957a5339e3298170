const API = "an-api-token-of-length";
const TOKEN = "a-hook-token-of-length";
export const SECRET = "a secret that only two know";
export const api = { Authorization: `Bearer ${API}` };
export const hook = { Authorization: `Bearer ${TOKEN}` };
/** A service that keeps requests, with mappings of several kinds. */
export const CONFIG = `{
  server: { apiToken: "${API}" },
  hooks: { enabled: true, token: "${TOKEN}", keepRequests: { for: "7d", maxBytes: "1GiB" }, mappings: [
    { match: { path: "ci" }, name: "CI {{branch}}", sessionKey: "hook:ci:{{branch}}", messageTemplate: "Build of {{branch}}",
      channel: "log", to: "ops" },
    { match: { path: "items" }, forEach: "items", messageTemplate: "{{item}}" },
    { match: { path: "github", when: { "headers.x-github-event": "issues", "payload.action": ["opened", "reopened"] } },
      auth: { type: "github", secret: "${SECRET}" }, messageTemplate: "{{payload}}" },
    { match: { path: "slack" }, auth: { type: "slack", secret: "another secret of length" }, messageTemplate: "x" },
    { match: { path: "gitlab" }, auth: { type: "token", token: "a-token-of-gitlab-alone", header: "X-Gitlab-Token" }, messageTemplate: "x" },
    { match: { path: "secret", when: { "headers.x-api-key": "one" } }, messageTemplate: "x" },
    { match: { path: "typos" }, messageTemplate: "{{build.idd}} {{biuld.id}} {{header.X-Event}} {{commits[0].autor}} {{unrelated}} {{build.log}} {{a}}{{build.id}}" },
    { id: "other", match: { path: "other" }, messageTemplate: "other {{branch}}", sessionKey: "other" },
  ] },
  channels: { log: {} },
}`;
