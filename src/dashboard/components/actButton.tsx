import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface ActButtonProps {
  readonly icon: IconName;
  /** Whether an action on the same record is in progress. */
  readonly isPending: boolean;
  /** Whether the action ends or deletes something. */
  readonly isDanger?: boolean;
  readonly act: () => void;
  readonly children: ComponentChildren;
}

/** A button with an icon and a word, for an action on a record. */
export function ActButton({ icon, isPending, isDanger = false, act, children }: ActButtonProps) {
  return (
    <button type="button" class={isDanger ? "danger" : undefined} disabled={isPending} onClick={act}>
      <Icon name={icon} /> {children}
    </button>
  );
}
