import { useLayoutEffect, useReducer } from "preact/hooks";
import type { Store } from "./store.ts";

/** Returns the store's value and renders the component again whenever it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, render] = useReducer<number, void>((count) => count + 1, 0);
  const { value } = store;
  useLayoutEffect(() => {
    if (!Object.is(store.value, value)) render(); // It changed between the render and this effect.
    return store.follow(render);
  }, [store]);
  return value;
}
