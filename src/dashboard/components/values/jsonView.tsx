import { useMemo, useState } from "preact/hooks";
import { copyText } from "../../copy.ts";
import { entriesOf, isContainer, type JsonEntry, searchJson, sizeOf } from "../../data/jsonSearch.ts";
import { visible } from "../../text.ts";
import { count } from "../../time.ts";
import { SearchBox } from "../forms/searchBox.tsx";
import { Clamp } from "./clamp.tsx";
import { RichText } from "./richText.tsx";

/** Fields or items of one container shown at first, and with each "Show more". */
const PAGE = 100;
/** Maximum number of fields of a large document whose containers are unfolded at first. */
const MAX_UNFOLDED = 5;
/** Length from which a string is shown as a text of its own, with its line breaks. */
const LONG_CHARS = 120;
const MAX_FOUND = 200;

interface JsonViewProps {
  readonly title: string;
  readonly value: unknown;
  /** Whether only the outermost containers are unfolded at first, and a search is offered. */
  readonly isLarge: boolean;
}

/** A JSON value as a tree to search and to fold. A click on a name copies its path. */
export function JsonView({ title, value, isLarge }: JsonViewProps) {
  const [text, setText] = useState("");
  const found = useMemo(() => (text === "" ? null : searchJson(value, text, MAX_FOUND)), [value, text]);
  const unfolds = (depth: number) =>
    !isLarge || depth === 0 || (depth === 1 && isContainer(value) && sizeOf(value) <= MAX_UNFOLDED);
  return (
    <>
      {isLarge && (
        <p class="json-search">
          <SearchBox label={`Search in ${title}`} text={text} setText={setText} />{" "}
          <span class="muted" role="status">
            {found && `${count(found.length)}${found.length === MAX_FOUND ? " or more" : ""} found`}
          </span>
        </p>
      )}
      <div class="code json" role="region" aria-label={`${title}, content`}>
        <Clamp as="div" lines={20}>
          {found ? (
            found.map((entry) => <Found key={entry.path} entry={entry} />)
          ) : (
            <Node entry={{ path: "", name: null, value }} depth={0} unfolds={unfolds} />
          )}
        </Clamp>
      </div>
    </>
  );
}

function Found({ entry }: { entry: JsonEntry }) {
  return (
    <div class="json-line">
      <Name entry={entry} text={entry.path || "."} />
      {isContainer(entry.value) ? <span class="muted">{summary(entry.value)}</span> : <Leaf value={entry.value} />}
    </div>
  );
}

interface NodeProps {
  readonly entry: JsonEntry;
  readonly depth: number;
  readonly unfolds: (depth: number) => boolean;
}

function Node({ entry, depth, unfolds }: NodeProps) {
  const { name, value } = entry;
  if (isContainer(value)) return <Container entry={entry} value={value} depth={depth} unfolds={unfolds} />;
  return (
    <div class="json-line">
      {name !== null && <Name entry={entry} />}
      <Leaf value={value} />
    </div>
  );
}

function Container({ entry, value, depth, unfolds }: NodeProps & { value: object }) {
  const [isOpen, setOpen] = useState(() => unfolds(depth));
  const [limit, setLimit] = useState(PAGE);
  const size = sizeOf(value);
  const [start, end] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const what = entry.path || "the document";
  return (
    <>
      <div class="json-line">
        {size > 0 && (
          <button
            type="button"
            class="json-fold"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? "Fold" : "Unfold"} ${what}`}
            onClick={() => setOpen(!isOpen)}
          />
        )}
        {entry.name !== null && <Name entry={entry} />}
        {isOpen && size > 0 ? start : <span class="muted">{summary(value)}</span>}
      </div>
      {isOpen && size > 0 && (
        <>
          <div class="json-inner">
            {entriesOf(value, entry.path, limit).map((inner) => (
              <Node key={inner.path} entry={inner} depth={depth + 1} unfolds={unfolds} />
            ))}
            {size > limit && (
              <p class="muted line">
                {count(limit)} of {count(size)}.{" "}
                <button type="button" onClick={() => setLimit(limit + PAGE * 10)}>
                  Show more
                </button>
              </p>
            )}
          </div>
          <div class="json-line">{end}</div>
        </>
      )}
    </>
  );
}

function summary(value: object): string {
  const size = sizeOf(value);
  if (Array.isArray(value)) return size === 0 ? "[]" : `[ ${count(size)} ${size === 1 ? "item" : "items"} ]`;
  return size === 0 ? "{}" : `{ ${count(size)} ${size === 1 ? "field" : "fields"} }`;
}

function Name({ entry: { path, name }, text }: { entry: JsonEntry; text?: string }) {
  const shown = text ?? (typeof name === "string" ? JSON.stringify(name) : String(name));
  return (
    <>
      <button type="button" class="json-key" title={`Copy the path ${path}`} onClick={() => copyText(path, "Path")}>
        {visible(shown)}
      </button>
      {": "}
    </>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value !== "string") return <span class="json-value">{JSON.stringify(value)}</span>;
  if (value.length > LONG_CHARS || value.includes("\n")) {
    return (
      <div class="json-text">
        <RichText text={value} isClamped />
      </div>
    );
  }
  const url = /^https?:\/\/[^\s<>"]+$/.test(value) && URL.parse(value)?.href;
  return (
    <span class="json-string" dir="auto">
      "{url ? <Link href={url} text={value} /> : visible(JSON.stringify(value).slice(1, -1))}"
    </span>
  );
}

function Link({ href, text }: { href: string; text: string }) {
  return (
    <a href={href} target="_blank" rel="noopener nofollow">
      {visible(text)}
    </a>
  );
}
