import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { SignalboxError } from "../../client/client.ts";
import { checkAccess } from "../data/access.ts";
import { isMissing } from "../data/missing.ts";
import type { Path } from "../paths.ts";
import { address } from "../router.ts";

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
export function NoMatch({ rows, path, children }: { rows: string; path: Path; children?: ComponentChildren }) {
  return (
    <Notice title={`No ${rows} match`}>
      {children} <a href={address(path)}>Show all {rows}</a>
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

/** Returns the problem and the advice for an error, as one sentence each. */
export function explain(error: unknown): readonly [title: string, advice: string] {
  if (!(error instanceof SignalboxError)) return ["This page has an error", `${error}. Reload the page.`];
  const { status, message } = error;
  if (status === 0)
    return ["The service cannot be reached", "Check that it is running and that your network reaches it."];
  if (status === 401) return ["You are not logged in", "Log in with the API token."];
  if (status === 403) return ["You are not allowed to do this", message];
  if (status === 429) return ["Too many requests", "Wait a moment, then try again."];
  if (status === 503) return ["The service is not ready", `${message} See /readyz for the checks that fail.`];
  if (status >= 500) return ["The service had an internal error", `${message} See its log for details.`];
  return ["The request was rejected", message];
}
