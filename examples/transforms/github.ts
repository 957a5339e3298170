import type { Transform } from "signalbox/transform";

/** The fields that are used of three GitHub events: https://docs.github.com/en/webhooks/webhook-events-and-payloads */
interface Push {
  ref: string;
  deleted: boolean;
  compare: string;
  pusher: { name: string };
  commits: { id: string; message: string; author: { name: string } }[];
  repository: { full_name: string; default_branch: string };
}
interface Issue {
  action: string;
  issue: { number: number; title: string; body: string | null; html_url: string; user: { login: string } };
  repository: { full_name: string };
}
interface WorkflowRun {
  action: string;
  workflow_run: {
    name: string;
    conclusion: string | null;
    head_branch: string | null;
    head_commit: { id: string; message: string; author: { name: string } } | null;
    html_url: string;
  };
  repository: { full_name: string };
}

const BROKEN: readonly unknown[] = ["failure", "timed_out", "startup_failure"];
const MAX_COMMITS = 10;

/**
 * Sends pushes to the default branch, new issues and failed workflow runs to the agent. Drops all other events of the
 * webhook: other branches, deletions, edited and closed issues, successful runs, pings.
 */
const github: Transform<Push | Issue | WorkflowRun> = ({ payload, headers }) => {
  const message = describe(headers["x-github-event"], payload);
  return message === null ? null : { message };
};
export default github;

function describe(event: unknown, payload: Push | Issue | WorkflowRun): string | null {
  switch (event) {
    case "push":
      return push(payload as Push);
    case "issues":
      return issue(payload as Issue);
    case "workflow_run":
      return workflowRun(payload as WorkflowRun);
    default:
      return null;
  }
}

function push({ ref, deleted, compare, pusher, commits, repository }: Push): string | null {
  if (ref !== `refs/heads/${repository.default_branch}` || deleted || commits.length === 0) return null;
  const more = commits.length - MAX_COMMITS;
  return [
    `${pusher.name} pushed to ${repository.default_branch} of ${repository.full_name}:`,
    ...commits.slice(0, MAX_COMMITS).map((commit) => `- ${inShort(commit)}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
    compare,
  ].join("\n");
}

function issue({ action, issue: { number, title, body, html_url, user }, repository }: Issue): string | null {
  if (action !== "opened") return null;
  return `${user.login} opened issue ${number} of ${repository.full_name}: ${title}\n${html_url}\n\n${body ?? ""}`.trimEnd();
}

function workflowRun({ action, workflow_run: run, repository }: WorkflowRun): string | null {
  if (action !== "completed" || !BROKEN.includes(run.conclusion)) return null;
  return [
    `The workflow ${run.name} of ${repository.full_name} ended with ${run.conclusion} on ${run.head_branch ?? "no branch"}.`,
    ...(run.head_commit ? [`Its commit: ${inShort(run.head_commit)}`] : []),
    run.html_url,
  ].join("\n");
}

const inShort = ({ id, message, author }: Push["commits"][number]): string =>
  `${id.slice(0, 7)} ${message.split("\n")[0]} (${author.name})`;
