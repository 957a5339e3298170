import { useEffect, useRef } from "preact/hooks";

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly act: string;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, text, act, onYes, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" aria-describedby="confirm-text" onClose={onClose}>
      <h2 id="confirm-title">{title}</h2>
      <p id="confirm-text">{text}</p>
      <form method="dialog">
        <button type="submit">Cancel</button>
        <button type="submit" class="danger primary" onClick={onYes}>
          {act}
        </button>
      </form>
    </dialog>
  );
}
