import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { copyText, downloadText } from "../../copy.ts";
import { bytes } from "../../time.ts";
import { IconButton } from "../buttons.tsx";
import { Clamp } from "./clamp.tsx";
import { JsonView } from "./jsonView.tsx";
import { RichText } from "./richText.tsx";

/** Maximum length of a text that is unfolded at first. */
const OPEN_CHARS = 3_000;

interface JsonProps {
  readonly title: string;
  readonly value: unknown;
  /** The file name of the download, without its extension. */
  readonly file: string;
  /** The size in bytes as it was sent; the size of the compact JSON if it is unknown. */
  readonly size?: number | null;
}

/** A JSON value as a tree. Copy and download contain all of it; the document contains only the start of a large value. */
export function JsonBlock({ title, value, file, size }: JsonProps) {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  const sent = useMemo(() => size ?? new Blob([JSON.stringify(value)]).size, [value, size]);
  return (
    <Block title={title} text={text} size={sent} file={`${file}.json`} isJson>
      <JsonView title={title} value={value} isLarge={text.length > OPEN_CHARS} />
    </Block>
  );
}

interface TextProps {
  readonly title: string;
  readonly text: string;
  readonly file: string;
}

/** A text of any length, with copy and download. */
export function TextBlock(props: TextProps) {
  const size = useMemo(() => new Blob([props.text]).size, [props.text]);
  return (
    <Block {...props} size={size}>
      <div class="code" role="region" aria-label={`${props.title}, content`}>
        <Clamp as="div" lines={20}>
          <RichText text={props.text} />
        </Clamp>
      </div>
    </Block>
  );
}

interface BlockProps extends TextProps {
  readonly size: number;
  readonly isJson?: boolean;
  readonly children: ComponentChildren;
}

function Block({ title, text, size, file, isJson = false, children }: BlockProps) {
  return (
    <section class="block box" aria-label={title}>
      <details open={text.length <= OPEN_CHARS}>
        <summary>
          <h2>{title}</h2> <span class="muted">{bytes(size)}</span>
        </summary>
        {children}
      </details>
      <span class="block-acts">
        <IconButton label={`Copy ${title}`} title="Copy" icon="copy" onClick={() => copyText(text, title)} />
        <IconButton
          label={`Download ${title}`}
          title={isJson ? "Download as JSON" : "Download"}
          icon="download"
          onClick={() => downloadText(text, file, isJson)}
        />
      </span>
    </section>
  );
}
