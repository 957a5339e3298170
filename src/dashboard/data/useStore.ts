import { useLayoutEffect, useReducer } from "preact/hooks";
import type { Store } from "./store.ts";

/** The store's value, and a new look at the component whenever it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, look] = useReducer<number, void>((count) => count + 1, 0);
  const { value } = store;
  useLayoutEffect(() => {
    if (!Object.is(store.value, value)) look(); // it changed between the look and now
    return store.follow(look);
  }, [store]);
  return value;
}
