import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Icon } from "../icon.tsx";

const narrow = matchMedia("(max-width: 760px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", ({ matches }) => {
  isNarrow.value = matches;
});

/** Buttons beside each other, or in a menu in a narrow window, where they would fill rows. Escape closes the menu. */
export function MoreActions({ children }: { children: ComponentChildren }) {
  const menu = useRef<HTMLDetailsElement>(null);
  if (!isNarrow.value) return <>{children}</>;
  return (
    <details
      class="more-actions"
      ref={menu}
      onFocusOut={({ relatedTarget }) => {
        const { current } = menu;
        if (current && relatedTarget instanceof Node && !current.contains(relatedTarget)) current.open = false;
      }}
    >
      <summary aria-label="More actions">
        <Icon name="more" />
      </summary>
      <div>{children}</div>
    </details>
  );
}
