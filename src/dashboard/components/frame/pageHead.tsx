import type { ComponentChildren } from "preact";
import { shownText } from "../../text.ts";
import { useTitle } from "../../title.ts";
import { Icon } from "../icon.tsx";
import { Clamp } from "../values/clamp.tsx";

/** The head of a page: its title, which the tab has too, and beside it filters and links. */
export function PageHead({ title, children }: { title: string; children?: ComponentChildren }) {
  useTitle(title);
  return (
    <div class="page-head line">
      <h1 dir="auto">{title}</h1>
      {children}
    </div>
  );
}

/** The head of the page of a record: its title, its id below, and beside them what can be done. */
export function RecordHead({ title, id, children }: { title: string; id: string | null; children: ComponentChildren }) {
  return (
    <div class="page-head line">
      <div>
        <Clamp as="h1" lines={3} title={title}>
          <bdi>{shownText(title)}</bdi>
        </Clamp>
        {id !== null && <bdi class="id muted">{id}</bdi>}
      </div>
      {children}
    </div>
  );
}

/** The link from a record to the list that it is part of. */
export function Crumbs({ href, children }: { href: string; children: string }) {
  return (
    <p class="crumbs line">
      <a href={href} data-up>
        <Icon name="back" /> {children}
      </a>
    </p>
  );
}
