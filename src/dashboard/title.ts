import { useLayoutEffect } from "preact/hooks";

/** Names the page in the browser's title, as soon as it is there: an effect after the painting comes late on a busy machine. */
export function useTitle(title: string): void {
  useLayoutEffect(() => {
    document.title = `${title} · Signalbox`;
  }, [title]);
}
