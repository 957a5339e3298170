import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { checkAccess } from "./access.ts";

export interface Query<T> {
  /** Null until it is there; what was there stays while it is read again. */
  readonly value: T | null;
  /** Why the latest attempt failed; null when it did not. */
  readonly error: unknown;
  /** Has it read again; asked for while it is being read, it is read once more after that. */
  readonly reload: () => void;
}

/** What a call of the service answers, for as long as the key stays the same. */
export function useQuery<T>(load: (signal: AbortSignal) => Promise<T>, key = ""): Query<T> {
  const [state, setState] = useState<{ key: string; value: T | null; error: unknown }>({
    key,
    value: null,
    error: null,
  });
  const read = useRef(() => {});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let isReading = false;
    let isWanted = false;
    read.current = async () => {
      isWanted = true;
      if (isReading) return;
      isReading = true;
      while (isWanted && !signal.aborted) {
        isWanted = false;
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
    read.current();
    return () => controller.abort();
  }, [key]);
  const reload = useCallback(() => read.current(), []);
  return { value: state.value, error: state.error, reload };
}
