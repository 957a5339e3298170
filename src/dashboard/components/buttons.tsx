import type { ButtonHTMLAttributes } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface IconButtonProps {
  /** The name of the button. */
  readonly label: string;
  /** The tooltip, if it is not the name. */
  readonly title?: string;
  readonly icon: IconName;
  readonly class?: string;
  /** A button that does nothing keeps the focus, which a disabled one would lose. */
  readonly isInert?: boolean;
  /** The id of what the button opens, and whether it is open. */
  readonly opens?: { readonly id: string; readonly isOpen: boolean };
  readonly onClick: () => void;
}

/** A button that shows only an icon. */
export function IconButton({ label, title = label, icon, class: more = "", isInert, opens, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button ${more}`.trim()}
      aria-label={label}
      title={title}
      aria-disabled={isInert}
      aria-expanded={opens?.isOpen}
      aria-controls={opens?.id}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

type Attributes = "disabled" | "title" | "aria-label" | "aria-pressed" | "aria-expanded" | "aria-controls";

interface ActButtonProps extends Pick<ButtonHTMLAttributes<HTMLButtonElement>, Attributes> {
  readonly icon: IconName;
  readonly label: string;
  readonly act: () => void;
}

/** A button with an icon and words, for an action on a record. One that ends or deletes something is red. */
export function ActButton({ icon, label, act, ...attributes }: ActButtonProps) {
  const isDanger = icon === "cancel" || icon === "trash";
  return (
    <button type="button" class={isDanger ? "danger" : undefined} onClick={act} {...attributes}>
      <Icon name={icon} /> {label}
    </button>
  );
}
