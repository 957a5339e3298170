import { useEffect, useRef } from "preact/hooks";

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms. */
  readonly action: string;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

/** Asks for confirmation of an action that cannot be undone. */
export function Confirm({ title, text, action, onYes, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" aria-describedby="confirm-text" onClose={onClose}>
      <h2 id="confirm-title">{title}</h2>
      <p id="confirm-text">{text}</p>
      <form method="dialog">
        <button type="submit">Cancel</button>
        <button type="submit" class="danger primary" onClick={onYes}>
          {action}
        </button>
      </form>
    </dialog>
  );
}
