import { useLayoutEffect } from "preact/hooks";

/** Sets the browser's title before the page is painted: a later effect would be delayed on a busy machine. */
export function useTitle(title: string): void {
  useLayoutEffect(() => {
    document.title = `${title} · Signalbox`;
  }, [title]);
}
