import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { checkAccess } from "./access.ts";
import { useThrottle } from "./live/useLive.ts";

export interface Query<T> {
  /** The latest response; null before the first one. Kept during a reload. */
  readonly value: T | null;
  /** The error of the latest attempt; null if it succeeded. */
  readonly error: unknown;
  /** Loads again. A call during a load starts another one after it. */
  readonly reload: () => void;
  /** Loads again soon, once for several calls, as after events. */
  readonly reloadSoon: () => void;
}

/**
 * Loads data when the component is mounted, and again when the key changes.
 * @param isLive whether `reload` loads it first, which the start of the live connection calls
 */
export function useQuery<T>(
  load: (signal: AbortSignal) => Promise<T>,
  key = "",
  { isLive = false }: { readonly isLive?: boolean } = {},
): Query<T> {
  const [state, setState] = useState({ key, value: null as T | null, error: null as unknown });
  const read = useRef(() => {});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let isReading = false;
    let needsLoad = false;
    read.current = async () => {
      needsLoad = true;
      if (isReading) return;
      isReading = true;
      while (needsLoad && !signal.aborted) {
        needsLoad = false;
        try {
          const value = await load(signal);
          if (!signal.aborted) setState({ key, value, error: null });
        } catch (error) {
          checkAccess(error);
          if (!signal.aborted) setState((before) => ({ key, value: before.key === key ? before.value : null, error }));
        }
      }
      isReading = false;
    };
    if (!isLive) read.current();
    return () => controller.abort();
  }, [key]);
  const reload = useCallback(() => read.current(), []);
  return { value: state.value, error: state.error, reload, reloadSoon: useThrottle(reload) };
}
