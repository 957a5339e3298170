import type { ComponentChildren } from "preact";
import { BASE_PATH } from "../basePath.ts";
import { copyText } from "../copy.ts";
import type { ShellCommand } from "../data/commands.ts";
import { IconButton } from "./iconButton.tsx";

/** Pages of the guide that the dashboard links to, with their titles. */
const GUIDE = {
  "tutorials/first-job": "Your first job",
  "tutorials/first-agent-hook": "Your first agent hook",
  "how-to/set-budgets": "Set budgets",
  "how-to/set-up-a-channel": "Set up a channel",
  "how-to/debug-a-failed-run": "Debug a failed run",
  "how-to/get-notified-when-a-job-fails": "Get notified when a job fails",
  "how-to/see-why-a-webhook-did-nothing": "See why a webhook did nothing",
  "how-to/map-a-sender": "Map a sender",
  "how-to/ask-a-person": "Ask a person",
  "how-to/secure": "Secure",
  "reference/configuration": "Configuration",
} as const;

export type GuidePage = keyof typeof GUIDE;

/** A link to a page of the guide, which the service serves. */
export function GuideLink({ page }: { page: GuidePage }) {
  return <a href={`${BASE_PATH}/guide/${page}`}>Guide: {GUIDE[page]}</a>;
}

interface EmptyStateProps {
  readonly title: string;
  /** A description of the page and of the command. */
  readonly children: ComponentChildren;
  readonly command: ShellCommand;
  readonly guide: GuidePage;
}

/** The content of a page that has nothing to show yet. */
export function EmptyState({ title, children, command, guide }: EmptyStateProps) {
  return (
    <div class="notice stack">
      <h2>{title}</h2>
      <p>{children}</p>
      <Command command={command} />
      <p>
        <GuideLink page={guide} />
      </p>
    </div>
  );
}

interface CommandProps {
  readonly command: ShellCommand;
  /** Names the command where there are several. */
  readonly label?: string;
}

/** A shell command with a button that copies it. */
export function Command({ command: { text, token }, label }: CommandProps) {
  return (
    <>
      <div class="command">
        {/* tabIndex lets the keyboard scroll the region. */}
        <pre tabIndex={0} role="region" aria-label={label ?? "Command"}>
          {text}
        </pre>
        <IconButton
          label={`Copy ${label ? `“${label}”` : "the command"}`}
          title="Copy"
          icon="copy"
          onClick={() => copyText(text, "Command")}
        />
      </div>
      {token && (
        <p class="muted">
          Set <code>{token.variable}</code> to the value of <code>{token.setting}</code> first.
        </p>
      )}
    </>
  );
}
