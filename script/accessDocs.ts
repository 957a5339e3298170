import { scopesOf, type ToolDefinition, toolsOf } from "../src/api/mcp/tools.ts";
import type { AnyRoute } from "../src/api/route.ts";
import { allRoutes } from "../src/api/routes/all.ts";
import type { AuditAction } from "../src/models/audit.ts";
import type { SCOPES } from "../src/shared/config/formats/scopes.ts";
import { parseConfig } from "../src/shared/config/load.ts";

const { hooks } = parseConfig(undefined, {});
const ROUTES = allRoutes({ ...hooks, enabled: true }, []);

const ABOUT: Readonly<Record<(typeof SCOPES)[number] | "hooks:NAME", string>> = {
  "jobs:read": "GET of jobs, steps, gates, counts, and live events of jobs",
  "jobs:report": "reports of steps, pings of existing jobs, opening and reading gates",
  "jobs:create": "creating and changing jobs, by PUT and by pings; includes `jobs:report`",
  "jobs:write":
    "cancelling and deleting jobs, and, together with `jobs:read`, creating job tokens; includes `jobs:create`",
  "gates:answer": "answering gates, and opening gates that accept by expiry",
  "runs:read": "GET of runs, sessions, deliveries, channels and rules, live events of runs, the queues",
  "runs:write": "retrying and cancelling runs and deliveries, deleting waiting events, testing rules; not reading them",
  "hooks:agent": "calling the hook `agent`",
  "hooks:wake": "calling the hook `wake`",
  "hooks:NAME": "calling the mapped hook NAME",
  admin: "everything, the audit log too",
};

const ACTIONS: Readonly<Record<AuditAction, string>> = {
  "job.delete": "a job was deleted",
  "jobs.delete": "jobs were deleted; the target is the filter",
  "job.cancel": "a job was cancelled with `force`",
  "token.create": "a job token was created",
  "gate.answer": "a gate was answered",
  "gate.withdraw": "a gate was withdrawn",
  "gate.expire": "a gate expired; the actor is `expiry`",
  "run.retry": "a run was retried",
  "run.again": "a run was started again",
  "run.cancel": "a run was cancelled",
  "delivery.retry": "a delivery was retried",
  "delivery.cancel": "a delivery was cancelled",
  "event.delete": "a waiting event was deleted",
  "channel.test": "a test message was sent",
  "channel.resume": "a stopped channel was resumed",
  "reply-target.set": "the reply target of the main session was set",
  "reply-target.clear": "the reply target of the main session was cleared",
  "request.replay": "a kept request was replayed",
  login: "a browser logged in",
  "token.refused": "a token was wrong or had expired, or the link of a gate was not valid",
};

/** Generates docs/reference/scopes.md from the routes. */
export function scopeDocs(): string {
  const actions = Object.entries(ACTIONS).map(([action, what]) => `| \`${action}\` | ${what} |`);
  const scopes = Object.entries(ABOUT).map(([scope, what]) => `| \`${scope}\` | ${what} |`);
  const calls = ROUTES.filter(({ scopes }) => scopes.length > 0).map(
    (route) => `| \`${route.method.toUpperCase()} ${route.path}\` | ${listed(route.scopes)} | ${route.summary} |`,
  );
  return `# Tokens and scopes

<!-- Made by \`npm run docs\` from the routes in src/api/routes. -->

\`\`\`json5
{
  server: {
    apiToken: "\${SIGNALBOX_API_TOKEN}",
    tokens: [
      {
        name: "ci",
        tokenSha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        scopes: ["jobs:read", "jobs:report"],
        jobs: { idPrefix: "ci/" },
        expiresAt: "2099-06-30",
      },
    ],
  },
}
\`\`\`

\`signalbox token new --name ci --scopes jobs:read,jobs:report\` prints a token and its entry. The entry has only a hash, so the
configuration reveals no token.

| token | scopes |
|---|---|
| \`server.apiToken\` | \`admin\` |
| \`server.readOnlyToken\` | \`jobs:read\`, \`runs:read\` |
| an entry of \`server.tokens\` | those that it names |
| \`hooks.token\` | all hooks without an \`auth\` of their own, and reading a single run |
| a job token (\`POST /api/jobs/:jobId/token\`) | \`read\`: \`jobs:read\`; \`report\`: \`jobs:read\` and \`jobs:report\`; both for its job only |
| a browser's cookie | those of the token that it logged in with |

- \`server.apiToken\`, \`server.readOnlyToken\` and \`hooks.token\` may each be a list. All are accepted, and the command line uses the
  first: see [rotate secrets](../how-to/rotate-secrets.md).
- \`jobs.idPrefix\` confines all scopes for jobs and gates. Other jobs are 404 for a read and 403 for a change. Lists, counts, live events
  and deletions without an id concern only the jobs of the token.
- A call that changes a record answers with the record. Who lacks the scope to read it, \`jobs:read\` or \`runs:read\`, receives a
  receipt: ids, status, progress, times and \`cancelRequested\`, but nothing that others have written.
- A missing scope is 403 \`forbidden\`, and the answer names it. A wrong or expired token is 401 \`unauthorized\`.
- A job token has at most the scopes of the token that creates it, so that creating one needs \`jobs:read\` too, and ends no later.
- A job token is stored nowhere. It ends with its time, with the deletion of its job, or with a new \`server.secret\`. Without a secret
  it depends on \`server.apiToken\` instead.

## Scopes

| scope | allows |
|---|---|
${scopes.join("\n")}

## Calls

A call needs one of its scopes. \`admin\` allows each.

| call | scope | does |
|---|---|---|
${calls.join("\n")}

## Audit log

\`GET /api/audit\` and the page \`/audit\` show who did what, on which record, from which address. Entries have neither bodies nor secrets.
They are kept for \`retention.auditAfter\`. Tools of MCP leave the same entries as calls of the API.

| action | is |
|---|---|
${actions.join("\n")}

| actor | is |
|---|---|
| the name of a token | a token of \`server.tokens\`, \`api-token\` or \`read-only-token\` |
| \`cookie:NAME\` | a browser that logged in with this token |
| \`job-token:JOB\` | the token of this job |
| \`anonymous\` | a caller without a token, or with a refused one; the link of a gate |

The log does not have everything:

- Calls that failed have no entry, except for a refused token. Nor has the withdrawal of a gate that was withdrawn
  before, which changes nothing.
- Creating and reporting jobs, and opening gates, are not recorded: the jobs themselves show them.
- The token that a worker creates for a program of the [command runner](runners.md#command) is not recorded, because no caller asked for
  it: no request and no address belong to it. The run with the id of the job shows that it was created. Entries of the program
  are by \`job-token:JOB\`.
- Calls of hooks are not recorded, so that no entry is by \`hooks.token\`: the runs show them, and so do the [kept
  requests](hooks.md#kept-requests).
- Changes on the page of the queues are not recorded: they concern entries of queues, not records of jobs and runs.
- A link of a gate that has expired, or whose question is closed, is not recorded.
- At most 20 refused tokens a minute are recorded from one network: the limit for failures applies.
`;
}

/** Generates docs/reference/mcp.md from the tools. */
export function mcpDocs(): string {
  const tools = toolsOf(ROUTES).map(
    (tool) =>
      `| \`${tool.name}\` | ${listed(scopesOf(tool))} | ${callOf(tool)} | ${hintOf(tool)} | ${tool.description} |`,
  );
  return `# MCP

<!-- Made by \`npm run docs\` from src/api/mcp/tools.ts. -->

\`POST /mcp\` speaks the Model Context Protocol by streamable HTTP, in revisions 2025-06-18, 2025-11-25 and 2026-07-28.
[Report over MCP](../how-to/report-over-mcp.md) has set-ups for clients.

- It has no sessions: any web process serves any request, and \`GET\` and \`DELETE\` answer 405.
- It takes the tokens of the [API](scopes.md) in \`Authorization: Bearer\`, and no cookies. Without a valid one it answers 401 with
  \`WWW-Authenticate\`. Pages of other sites are refused with 403.
- \`tools/list\` shows the tools that the scopes of the token allow, always in the order of this table.
- With a job token, \`jobId\` may be left out.
- An error of the service is a result with \`isError\` and the problem as text, such as \`progress must be <= 100 (invalid_body)\`.
- A POST has one message: an array is refused with the code -32600. Ids and progress tokens come back with the digits they have.
- A result has at most 40 kB, in \`structuredContent\` alone. Its text has only the status and, where something was left out, a sentence
  that says how to get the rest. A large object is replaced by \`{ "omitted": "… bytes, …" }\`.
- \`job_list\` returns 20 rows, and input, metadata and output only if \`fields\` names them.
- A waiting tool answers after 50 seconds at the latest. \`job_wait\` sends \`notifications/progress\` to a client that gave a
  \`progressToken\`. Waiting tools count for \`server.maxWaiting\`.
- The resource \`signalbox://jobs/{jobId}\` is the JSON of a job.

| tool | scope | calls | hint | what the model reads |
|---|---|---|---|---|
${tools.join("\n")}
`;
}

const listed = (scopes: readonly string[]): string => scopes.map((scope) => `\`${scope}\``).join(" or ");

const callOf = ({ route }: { readonly route: AnyRoute }): string => `\`${route.method.toUpperCase()} ${route.path}\``;

function hintOf({ annotations }: ToolDefinition): string {
  if (annotations.readOnlyHint) return "read-only";
  return annotations.destructiveHint ? "destructive" : annotations.idempotentHint ? "idempotent" : "none";
}
