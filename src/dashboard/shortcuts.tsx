import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Path } from "./paths.ts";
import { address, navigate } from "./router.ts";

const KEYS = [
  ["/", "Search"],
  ["j or ↓, k or ↑", "Next or previous row of a list"],
  ["Enter", "Open"],
  ["Escape", "Go back or close"],
  ["g then j, r, s, d, c", "Go to jobs, runs, sessions, deliveries, channels"],
  ["?", "Show this help"],
] as const;

const GO: Readonly<Record<string, Path>> = {
  j: "/",
  r: "/runs",
  s: "/sessions",
  d: "/deliveries",
  c: "/channels",
};

const isHelpOpen = signal(false);

export function showHelp(): void {
  isHelpOpen.value = true;
}

function hideHelp(): void {
  isHelpOpen.value = false;
}

/** Handles the keys that work on every page; components/rows.tsx handles those of lists. */
export function Shortcuts() {
  const isOpen = isHelpOpen.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(listenToKeys, []);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  if (!isOpen) return null;
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={hideHelp}>
      <h2 id="help-title">Keyboard shortcuts</h2>
      <dl>
        {KEYS.map(([key, title]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

function listenToKeys(): () => void {
  let isGoing = false;
  const listen = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const wasGoing = isGoing;
    isGoing = event.key === "g";
    const to = wasGoing && GO[event.key];
    const search = event.key === "/" && document.querySelector<HTMLInputElement>("input[type=search]");
    const up = event.key === "Escape" && document.querySelector<HTMLAnchorElement>("a[data-up]");
    if (to) navigate(address(to));
    else if (event.key === "?") showHelp();
    else if (search) search.select();
    else if (up) up.click();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation(); // The "j" of "g j" must not move the focus in a list.
  };
  addEventListener("keydown", listen, { capture: true });
  return () => removeEventListener("keydown", listen, { capture: true });
}

/** Whether the event is for a field or for an open dialog. */
export const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof Element &&
  (target.closest("input, textarea, select, dialog") !== null || document.querySelector("dialog[open]") !== null);
