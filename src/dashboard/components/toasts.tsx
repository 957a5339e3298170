import { checkAccess } from "../data/access.ts";
import { Store } from "../data/store.ts";
import { useStore } from "../data/useStore.ts";
import { explain } from "./notice.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
}

const SHOWN_MS = 6_000;
const toasts = new Store<readonly Toast[]>([]);
let last = 0;

/** Shows the result of an action for a few seconds. */
export function showToast(text: string, { isError = false } = {}): void {
  last += 1;
  const id = last;
  toasts.set([...toasts.value.slice(-2), { id, text, isError }]);
  setTimeout(() => drop(id), SHOWN_MS);
}

export function showError(error: unknown): void {
  checkAccess(error);
  const [title, advice] = explain(error);
  showToast(`${title}: ${advice}`, { isError: true });
}

const drop = (id: number): void => toasts.set(toasts.value.filter((one) => one.id !== id));

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ id, text, isError }) => (
        <p key={id} class={isError ? "toast toast-error" : "toast"}>
          {text}
        </p>
      ))}
    </div>
  );
}
