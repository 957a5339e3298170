import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { SignalboxError } from "../../client/client.ts";
import { BASE_PATH } from "../basePath.ts";
import { copyText } from "../copy.ts";
import { checkAccess } from "../data/access.ts";
import type { ShellCommand } from "../data/commands.ts";
import { explain, isMissing } from "../data/errors.ts";
import { IconButton } from "./buttons.tsx";

/** The content of a page that has nothing to show: the reason and what to do. See EmptyState for one without data. */
export function Notice({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice stack">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
    </div>
  );
}

/** The content of a list without rows that match its filters. */
export function NoMatch({ rows, hint }: { rows: string; hint?: string | undefined }) {
  return (
    <Notice title={`No ${rows} match`}>
      {hint} <a href={location.pathname}>Show all {rows}</a>
    </Notice>
  );
}

/** The content of a page whose address names nothing. */
export function NotFound({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="notice stack">
      <h1>{title}</h1>
      <p>{children}</p>
    </div>
  );
}

interface RecordErrorProps {
  readonly error: unknown;
  readonly retry: () => void;
  readonly record: Parameters<typeof isMissing>[1];
  /** Why the record may be missing. */
  readonly children: ComponentChildren;
}

/** The content of the page of a record that could not be read: it is missing, or the request has failed. */
export function RecordError({ error, retry, record, children }: RecordErrorProps) {
  if (!isMissing(error, record)) return <Failure error={error} retry={retry} />;
  return <NotFound title={`${record.charAt(0).toUpperCase()}${record.slice(1)} not found`}>{children}</NotFound>;
}

const RETRY_MS = 5_000;

/** Shows an error. Retries a transient error by itself, for screens without a user. */
export function Failure({ error, retry }: { error: unknown; retry: () => void }) {
  useEffect(() => {
    checkAccess(error);
    if (!(error instanceof SignalboxError && error.isTransient)) return;
    const timer = setTimeout(retry, Math.max(RETRY_MS, error.retryAfterMs ?? 0));
    return () => clearTimeout(timer);
  }, [error]);
  const [title, advice] = explain(error);
  return (
    <div class="notice notice-error stack" role="alert">
      <h2>{title}</h2>
      <p>{advice}</p>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

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
