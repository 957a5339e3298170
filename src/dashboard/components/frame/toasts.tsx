import { signal } from "@preact/signals";
import { checkAccess } from "../../data/access.ts";
import { explain } from "../../data/errors.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
}

const SHOWN_MS = 6_000;
const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Shows the result of an action for a few seconds. */
export function showToast(text: string, { isError = false } = {}): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value.slice(-2), { id, text, isError }];
  setTimeout(() => drop(id), SHOWN_MS);
}

export function showError(error: unknown): void {
  checkAccess(error);
  const [title, advice] = explain(error);
  showToast(`${title}: ${advice}`, { isError: true });
}

function drop(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts stack" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isError }) => (
        <p key={id} class={isError ? "toast popover toast-error" : "toast popover"}>
          {text}
        </p>
      ))}
    </div>
  );
}
