import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { shownText } from "../../text.ts";
import { bytes } from "../../time.ts";
import { Clamp } from "./clamp.tsx";

/** Number of characters shown of a long text, at first and after "Show more". */
const HEAD_CHARS = 6_000;
const MORE_CHARS = 100_000;
/** Maximum length of a text that is rendered as Markdown. Longer ones would block the page. */
const MAX_MARKDOWN_CHARS = 20_000;

/** Matches a text with a link or with Markdown. */
const MARKUP =
  /https?:\/\/\S|\*\S[^*]*\*|(?<!\w)_\S[^_]*_(?!\w)|`[^`]+`|~~\S|\]\(|^ {0,3}(?:#{1,6}|[-+*>]|\d{1,9}[.)])\s|^\s*\|.*\|/m;

/** Renders Markdown; null until the first text with markup is shown. */
const renderer = signal<((text: string) => string) | null>(null);

interface RichTextProps {
  readonly text: string;
  /** Whether it is cut after six lines, with a button that shows all of it. */
  readonly isClamped?: boolean;
}

/** A text of any length. Markdown in it is rendered, and a switch shows it as it was sent. */
export function RichText({ text, isClamped = false }: RichTextProps) {
  const [isRaw, setRaw] = useState(false);
  const [limit, setLimit] = useState(HEAD_CHARS);
  const whole = useMemo(() => shownText(text), [text]);
  const head = whole.slice(0, limit);
  const hasMarkup = useMemo(() => head.length <= MAX_MARKDOWN_CHARS && MARKUP.test(head), [head]);
  useEffect(() => {
    if (!hasMarkup || renderer.value) return;
    const load = import("../../markdown.ts");
    void load.then(
      ({ renderMarkdown }) => {
        renderer.value = renderMarkdown;
      },
      () => {}, // The service is unavailable: the text is shown as it was sent.
    );
  }, [hasMarkup]);
  const render = renderer.value;
  const html = useMemo(() => (hasMarkup && render ? render(head) : null), [head, hasMarkup, render]);
  const content =
    html !== null && !isRaw ? (
      <div key="rendered" class="md" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
    ) : (
      <div key="raw" class="raw-text" dir="auto">
        {head}
        {head.length < whole.length && "…"}
      </div>
    );
  const rest = head.length < whole.length && (
    <p class="muted line">
      The first {bytes(head.length)} of {bytes(whole.length)}.{" "}
      {limit < MORE_CHARS ? (
        <button type="button" onClick={() => setLimit(MORE_CHARS)}>
          Show more
        </button>
      ) : (
        "Copy or download it to see all of it."
      )}
    </p>
  );
  return (
    <>
      {isClamped ? (
        <Clamp as="div" lines={6} rest={rest}>
          {content}
        </Clamp>
      ) : (
        content
      )}
      {html !== null && (
        <button type="button" class="link-button" onClick={() => setRaw(!isRaw)}>
          {isRaw ? "Rendered" : "Raw"}
        </button>
      )}
      {!isClamped && rest}
    </>
  );
}
