import type { Transform } from "signalbox/transform";

/** What is read of GitHub's push event: https://docs.github.com/webhooks/webhook-events-and-payloads#push */
interface Push {
  ref: string;
  deleted: boolean;
  compare: string;
  repository: { full_name: string };
  pusher: { name: string };
  commits: { id: string; message: string; author: { name: string } }[];
}

const MAX_COMMITS = 10;

/**
 * A push becomes a short message to the agent, in one conversation for each repository. Deleted branches, pushes without
 * commits (a tag, a branch that begins where another is) and all other events are dropped.
 */
const githubPush: Transform<Push> = ({ payload: push, headers }) => {
  if (headers["x-github-event"] !== "push" || push.deleted || push.commits.length === 0) return null;
  const branch = push.ref.replace(/^refs\/(heads|tags)\//, "");
  const lines = push.commits
    .slice(0, MAX_COMMITS)
    .map(({ id, message, author }) => `- ${id.slice(0, 7)} ${message.split("\n")[0]} (${author.name})`);
  const more = push.commits.length - lines.length;
  console.log(`${push.commits.length} commits on ${branch}`);
  return {
    name: "GitHub",
    sessionKey: `hook:github:${push.repository.full_name}`,
    message: [
      `${push.pusher.name} pushed to ${branch} of ${push.repository.full_name}:`,
      ...lines,
      ...(more > 0 ? [`- and ${more} more`] : []),
      push.compare,
    ].join("\n"),
  };
};

export default githubPush;
