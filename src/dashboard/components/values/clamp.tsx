import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface ClampProps {
  readonly as: "h1" | "h2" | "div";
  readonly lines: 3 | 6 | 20;
  readonly class?: string;
  /** The whole text, for the tooltip of a name that is cut. */
  readonly title?: string;
  /** Shown after the text unless it is cut. */
  readonly rest?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A text that is cut after some lines, with a button that shows all of it. */
export function Clamp({ as: Tag, lines, class: more = "", title, rest, children }: ClampProps) {
  const box = useRef<HTMLElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isLong, setLong] = useState(false);
  const measure = () => {
    const { current } = box;
    if (current?.classList.contains("clamp")) setLong(current.scrollHeight > current.clientHeight + 2);
  };
  useLayoutEffect(measure);
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [isOpen]);
  const isCut = isLong && !isOpen;
  return (
    <>
      <Tag
        ref={box as never}
        class={`${more}${isOpen ? "" : " clamp"}${isCut ? " is-cut" : ""}`}
        style={{ "--lines": lines }}
        title={isCut ? title : undefined}
      >
        {children}
      </Tag>
      {!isCut && rest}
      {isLong && (
        <button type="button" class="link-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all"}
        </button>
      )}
    </>
  );
}
