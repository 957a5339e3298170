import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";

/** The groups of the sidebar, one for each kind of page, with the pages by the words of a reader who looks for them. */
export const GROUPS: Readonly<Record<string, readonly (readonly [page: string, text: string])[]>> = {
  "Learn it, step by step": [
    ["tutorials/first-job", "Your first job"],
    ["tutorials/first-agent-hook", "Your first agent hook"],
    ["tutorials/github-to-chat", "From a GitHub webhook to a chat"],
  ],
  "Report work": [
    ["how-to/report-from-an-orchestrator", "Report from an orchestrator with retries"],
    ["how-to/report-from-any-language", "Report from any language"],
    ["how-to/use-the-dashboard", "Use the dashboard"],
  ],
  "Set agents to work": [
    ["how-to/set-up-an-agent", "Set up an agent"],
    ["how-to/wake-an-agent-from-cron", "Wake an agent from cron"],
    ["how-to/map-a-sender", "Map a sender's webhooks"],
    ["how-to/set-up-a-channel", "Set up a channel"],
    ["how-to/set-up-gmail", "Set up Gmail"],
    ["how-to/debug-a-failed-run", "Debug a failed run"],
  ],
  "Run it in production": [
    ["how-to/deploy", "Deploy"],
    ["how-to/secure", "Secure it"],
    ["how-to/rotate-secrets", "Rotate secrets"],
    ["how-to/monitor", "Monitor with Prometheus"],
    ["how-to/back-up", "Back up and restore"],
    ["how-to/upgrade", "Upgrade"],
    ["how-to/scale-out", "Scale out"],
  ],
  "Look something up": [
    ["reference/api", "HTTP API"],
    ["reference/configuration", "Configuration"],
    ["reference/cli", "Command line"],
    ["reference/client", "Client libraries"],
    ["reference/errors", "Errors"],
    ["reference/hooks", "Hooks"],
    ["reference/templates", "Templates"],
    ["reference/channels", "Channels"],
    ["reference/events", "Events"],
    ["reference/metrics", "Metrics"],
    ["reference/glossary", "Glossary"],
  ],
  "Understand how it works": [
    ["explanation/architecture", "Architecture"],
    ["explanation/life-of-a-job-and-a-run", "The life of a job and of a run"],
    ["explanation/durability", "Which faults it survives"],
    ["explanation/prompt-fence", "The prompt fence and its limits"],
    ["explanation/threat-model", "Threat model"],
    ["explanation/performance", "Performance"],
  ],
};

const docs = join(import.meta.dirname, "..");

/** Returns the sidebar with the pages that exist. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  return Object.entries(GROUPS).map(([text, pages]) => ({
    text,
    items: pages
      .filter(([page]) => existsSync(join(docs, `${page}.md`)))
      .map(([page, title]) => ({ text: title, link: `/${page}` })),
  }));
}
