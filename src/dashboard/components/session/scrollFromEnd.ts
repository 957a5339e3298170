import { useLayoutEffect, useRef } from "preact/hooks";

/** Distance from the end, in pixels, within which the page follows what is added. */
const AT_END_PX = 60;

/**
 * Opens the page at its end and follows what is added there. While the reader is elsewhere, keeps the visible item in place when
 * others above it are added or change their height.
 * @returns the properties of the list, whose items it keeps
 */
export function useScrollFromEnd() {
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  const anchor = useRef<{ item: Element; top: number } | null>(null);
  const remember = () => {
    const header =
      Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--sticky-height")) || 0;
    const item = [...(list.current?.children ?? [])].find((one) => one.getBoundingClientRect().bottom > header);
    anchor.current = item ? { item, top: item.getBoundingClientRect().top } : null;
  };
  useLayoutEffect(() => {
    const page = document.documentElement;
    const onScroll = () => {
      isAtEnd.current = page.scrollHeight - innerHeight - scrollY <= AT_END_PX;
      remember();
    };
    const onResize = () => {
      const { item, top } = anchor.current ?? {};
      if (isAtEnd.current) scrollTo({ top: page.scrollHeight, behavior: "instant" });
      else if (item?.isConnected && top !== undefined)
        scrollBy({ top: item.getBoundingClientRect().top - top, behavior: "instant" });
      remember();
    };
    const observer = new ResizeObserver(onResize);
    observer.observe(document.body);
    addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      removeEventListener("scroll", onScroll);
    };
  }, []);
  // A message that a reader opens stays where it is.
  const onClickCapture = () => {
    isAtEnd.current = false;
    remember();
  };
  return { ref: list, onClickCapture };
}
