import { useEffect } from "preact/hooks";

/** Names the page in the browser's title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Signalbox`;
  }, [title]);
}
