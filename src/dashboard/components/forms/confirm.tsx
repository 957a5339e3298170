import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms. */
  readonly action: string;
  /** The label of the button that closes the dialog. */
  readonly dismiss?: string;
  /** Fields between the text and the buttons. */
  readonly children?: ComponentChildren;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

/** Asks for confirmation of an action that cannot be undone. */
export function Confirm({ title, text, action, dismiss = "Cancel", children, onYes, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" aria-describedby="confirm-text" onClose={onClose}>
      <h2 id="confirm-title" class="large">
        {title}
      </h2>
      <p id="confirm-text">{text}</p>
      <form method="dialog" class="line">
        {children}
        <button type="button" onClick={() => dialog.current?.close()}>
          {dismiss}
        </button>
        <button type="submit" class="danger primary" onClick={onYes}>
          {action}
        </button>
      </form>
    </dialog>
  );
}
