import { useEffect, useRef } from "preact/hooks";

/** Distance in pixels from the end of a box within which it follows new content. */
const NEAR_END_PX = 24;

/**
 * Returns the properties of a box that follows the end of its content until the reader scrolls back.
 * @param content what the box shows: its change may add something at the end
 */
export function useFollowEnd(content: unknown, onScrollTo?: (top: number) => void) {
  const ref = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const last = useRef(0);
  useEffect(() => {
    if (ref.current && follows.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [content]);
  const onScroll = ({ currentTarget }: { currentTarget: HTMLDivElement }) => {
    const { scrollTop, scrollHeight, clientHeight } = currentTarget;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    // Content may have been added since the box scrolled: only a person scrolls up.
    follows.current = isAtEnd || (follows.current && scrollTop >= last.current);
    last.current = scrollTop;
    onScrollTo?.(scrollTop);
  };
  return { ref, onScroll };
}
