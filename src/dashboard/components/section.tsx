import type { ComponentChildren } from "preact";

/** A part of a page under a heading, which names it. */
export function Section({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section aria-labelledby={`${id}-title`} class="section">
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}
