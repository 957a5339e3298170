import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { BASE_PATH } from "./basePath.ts";
import type { Path } from "./paths.ts";
import { address, navigate } from "./router.ts";

const KEYS = [
  ["Ctrl K or ⌘ K", "Open a page, a job or a run by its name or id"],
  ["/", "Search"],
  ["j or ↓, k or ↑", "Next or previous row of a list"],
  ["Enter", "Open"],
  ["x", "Select a row of the list of jobs"],
  ["Escape", "Go back or close"],
  ["→ or ←", "Next or previous step while one is open"],
  ["g then j, i, q, h, r, s", "Go to jobs, history, questions, hooks, runs, sessions"],
  ["g then d, n, c, a, t", "Go to deliveries, notifications, channels, audit, settings"],
  ["?", "Show this help"],
] as const;

const GO: Readonly<Record<string, Path>> = {
  j: "/",
  h: "/requests",
  i: "/history",
  q: "/gates",
  r: "/runs",
  s: "/sessions",
  d: "/deliveries",
  n: "/notify",
  c: "/channels",
  a: "/audit",
  t: "/settings",
};

/** The open menu, which Escape closes even from a field in it. */
const OPEN_MENU = "details.menu[open], .menu-button[aria-expanded=true]";

/** Whether the dialog that opens pages, jobs and runs is shown. */
export const isPaletteOpen = signal(false);

export function openPalette(): void {
  isPaletteOpen.value = true;
}

const isHelpOpen = signal(false);

export function showHelp(): void {
  isHelpOpen.value = true;
}

function hideHelp(): void {
  isHelpOpen.value = false;
}

/** Handles the keys that work on every page; components/tables/rows.tsx handles those of lists. */
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
      <h2 id="help-title" class="large">
        Help
      </h2>
      <p>
        <a href={`${BASE_PATH}/guide/`}>Guide</a> <a href={`${BASE_PATH}/docs`}>API reference</a>
      </p>
      <h3>Keyboard shortcuts</h3>
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
      <form method="dialog" class="line">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

function listenToKeys(): () => void {
  let isGoing = false;
  const listen = (event: KeyboardEvent) => {
    if (
      event.key.toLowerCase() === "k" &&
      (event.ctrlKey || event.metaKey) &&
      !document.querySelector("dialog[open]")
    ) {
      event.preventDefault();
      openPalette();
      return;
    }
    const isEscape = event.key === "Escape";
    const menu = isEscape && !document.querySelector("dialog[open]") && document.querySelector(OPEN_MENU);
    if (menu instanceof HTMLElement) {
      event.preventDefault();
      event.stopImmediatePropagation();
      closeMenu(menu);
      return;
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const wasGoing = isGoing;
    isGoing = event.key === "g";
    const to = wasGoing && GO[event.key];
    const search = event.key === "/" && document.querySelector<HTMLInputElement>("input[type=search]");
    const up =
      isEscape &&
      (document.querySelector<HTMLElement>(".panel-close") ?? document.querySelector<HTMLElement>("a[data-up]"));
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

function closeMenu(menu: HTMLElement): void {
  if (menu instanceof HTMLDetailsElement) {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  } else {
    menu.click();
    menu.focus();
  }
}

/** Whether the event is for a field or for an open dialog. */
export const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof Element &&
  (target.closest("input, textarea, select, dialog") !== null || document.querySelector("dialog[open]") !== null);
