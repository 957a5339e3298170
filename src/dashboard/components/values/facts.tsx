import type { ComponentChildren } from "preact";

/** A list of names and values, without the empty values. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt class="small muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
