import { useMemo, useState } from "preact/hooks";
import { copyText, downloadText } from "../copy.ts";
import { bytes } from "../time.ts";
import { Icon } from "./icon.tsx";

/** Number of characters shown of a long text, at first and after "Show more". */
const HEAD_CHARS = 6_000;
const MORE_CHARS = 100_000;
/** Maximum length of a text that is unfolded at first. */
const OPEN_CHARS = 3_000;

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b/g;

interface JsonProps {
  readonly title: string;
  readonly value: unknown;
  /** The file name of the download, without its extension. */
  readonly file: string;
}

/**
 * A formatted JSON value. Copy and download contain all of it; the document contains only the start of a large value.
 */
export function JsonBlock({ title, value, file }: JsonProps) {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  return <TextBlock title={title} text={text} file={`${file}.json`} isJson />;
}

interface TextProps {
  readonly title: string;
  readonly text: string;
  readonly file: string;
  readonly isJson?: boolean;
}

/** A text of any length, with copy and download. */
export function TextBlock({ title, text, file, isJson = false }: TextProps) {
  const [limit, setLimit] = useState(HEAD_CHARS);
  const head = text.length > limit ? text.slice(0, limit) : text;
  const size = useMemo(() => new Blob([text]).size, [text]);
  return (
    <section class="block" aria-label={title}>
      <details open={text.length <= OPEN_CHARS}>
        <summary>
          <h2>{title}</h2> <span class="muted">{bytes(size)}</span>
        </summary>
        {/* tabIndex lets the keyboard scroll the region. */}
        <pre class={isJson ? "code" : "code prose"} tabIndex={0} role="region" aria-label={`${title}, content`}>
          {isJson && head.length <= HEAD_CHARS ? <Tokens text={head} /> : head}
          {head.length < text.length && "…"}
        </pre>
        {head.length < text.length && (
          <p class="muted block-more">
            The first {bytes(head.length)} of {bytes(size)}.{" "}
            {limit < MORE_CHARS ? (
              <button type="button" onClick={() => setLimit(MORE_CHARS)}>
                Show more
              </button>
            ) : (
              "Download it to see all of it."
            )}
          </p>
        )}
      </details>
      <span class="block-acts">
        <button type="button" class="icon-button" title="Copy" onClick={() => copyText(text, title)}>
          <Icon name="copy" />
          <span class="unseen">Copy {title}</span>
        </button>
        <button
          type="button"
          class="icon-button"
          title={isJson ? "Download as JSON" : "Download"}
          onClick={() => downloadText(text, file, isJson)}
        >
          <Icon name="download" />
          <span class="unseen">Download {title}</span>
        </button>
      </span>
    </section>
  );
}

function Tokens({ text }: { text: string }) {
  const parts = useMemo(() => tokens(text), [text]);
  return (
    <>
      {parts.map(([kind, part], at) =>
        kind ? (
          <span key={at} class={`json-${kind}`}>
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </>
  );
}

function tokens(text: string): [kind: string, text: string][] {
  const parts: [string, string][] = [];
  let last = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, string, colon] = match;
    const token = string ?? whole;
    if (match.index > last) parts.push(["", text.slice(last, match.index)]);
    parts.push([colon ? "key" : string ? "string" : "value", token]);
    last = match.index + token.length;
  }
  parts.push(["", text.slice(last)]);
  return parts;
}
