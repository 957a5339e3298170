import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Access } from "../../../client/client.ts";
import { access, logOut } from "../../data/access.ts";
import { countStoppedChannels, stoppedChannels } from "../../data/channel/stoppedChannels.ts";
import { countOpenGates, MAX_COUNTED, openGates } from "../../data/gate/openGates.ts";
import { liveState } from "../../data/live/live.ts";
import { useReloadEvery } from "../../data/live/useLive.ts";
import { leadsTo, pageGroups } from "../../data/pages.ts";
import { address, type Place } from "../../router.ts";
import { openPalette, showHelp } from "../../shortcuts.tsx";
import { nextTheme, theme } from "../../theme.ts";
import { IconButton } from "../buttons.tsx";
import { showError } from "./toasts.tsx";

const THEMES = { auto: "system", light: "light", dark: "dark" } as const;

/** @param isPlain whether to omit the navigation, as before the login */
export function TopBar({ place, isPlain }: { place: Place; isPlain: boolean }) {
  const chosen = theme.value;
  const currentAccess = access.value;
  const nav = useRef<HTMLElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    setOpen(false);
    const current = nav.current?.querySelector("[aria-current]");
    current?.scrollIntoView({ behavior: "instant", block: "nearest", inline: "center" });
  }, [place.path, isPlain]);
  return (
    <header class="top">
      <a class="brand line large" href={address("/")}>
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
          <rect width="32" height="32" rx="7" fill="#2453c4" />
          <g fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round">
            <path d="M8 11h16M8 21h16" stroke-opacity="0.45" />
            <path d="M8 21c6 0 10-10 16-10" />
          </g>
          <circle cx="24" cy="11" r="3.2" fill="#5be3a0" />
        </svg>
        <span class="brand-name">Signalbox</span>
      </a>
      {!isPlain && (
        <nav ref={nav} id="menu" aria-label="Main" class={isOpen ? "open" : undefined}>
          {[...pageGroups(currentAccess)].map(([group, pages]) => (
            <div key={group} role="group" aria-label={group} data-title={group}>
              {pages.map(({ path, title }) => (
                <a key={path} href={address(path)} aria-current={leadsTo(path, place.path) ? "page" : undefined}>
                  {title}
                  {path === "/gates" && (
                    <Badge number={openGates} countNow={countOpenGates} everyMs={15_000} noun="open" />
                  )}
                  {path === "/channels" && (
                    <Badge
                      number={stoppedChannels}
                      countNow={countStoppedChannels}
                      everyMs={30_000}
                      noun="stopped"
                      isFault
                    />
                  )}
                </a>
              ))}
            </div>
          ))}
        </nav>
      )}
      <div class="top-end end line">
        {currentAccess?.name && <LoginName access={currentAccess} />}
        {!isPlain && <Live />}
        {!isPlain && (
          <IconButton
            label="Go to a page, job or run"
            title="Go to a page, job or run (Ctrl K)"
            icon="search"
            onClick={openPalette}
          />
        )}
        <IconButton
          label={`Theme: ${THEMES[chosen]}`}
          icon={chosen === "auto" ? "auto" : chosen === "dark" ? "moon" : "sun"}
          onClick={nextTheme}
        />
        <IconButton label="Help" title="Help (?)" icon="help" onClick={showHelp} />
        {currentAccess?.needsToken && currentAccess.access && currentAccess.by !== "proxy" && (
          <IconButton label="Log out" icon="out" onClick={() => logOut().catch(showError)} />
        )}
        {!isPlain && (
          <IconButton
            label="Menu"
            icon="menu"
            class="menu-button"
            opens={{ id: "menu", isOpen }}
            onClick={() => setOpen(!isOpen)}
          />
        )}
      </div>
    </header>
  );
}

/** Names the token with which the browser logged in, and says what it allows. */
function LoginName({ access: { name, by, scopes, jobIdPrefixes } }: { access: Access }) {
  const isReadOnly = scopes.every((scope) => scope.endsWith(":read"));
  const jobs = jobIdPrefixes ? ` Only jobs whose ids begin with ${jobIdPrefixes.join(" or ")} are shown.` : "";
  const subject = by === "token" ? "This token" : "This login";
  const text = scopes.includes("admin")
    ? `${subject} allows everything.`
    : `${subject} allows ${scopes.join(", ")}. Other actions are hidden.${jobs}`;
  return (
    <span class="chip cut" title={text}>
      {name === "read-only-token" ? "Read-only" : isReadOnly ? `Read-only: ${name}` : name}
    </span>
  );
}

const LIVE = {
  connecting: "Connecting",
  live: "Live",
  paused: "Paused",
  away: "Offline",
} as const;

function Live() {
  const state = liveState.value;
  if (state === "none") return null;
  return (
    <span class={`live live-${state} line small muted`} role="status">
      {LIVE[state]}
    </span>
  );
}

interface BadgeProps {
  /** The number; null until it is known. */
  readonly number: ReadonlySignal<number | null>;
  /** Counts again. No live event reports what is counted on every page. */
  readonly countNow: () => Promise<void>;
  /** The interval of counting. */
  readonly everyMs: number;
  /** The word after the number, for screen readers. */
  readonly noun: string;
  /** Whether the number is of something that has failed. */
  readonly isFault?: boolean;
}

/** A number beside a link of the navigation; nothing for none. */
function Badge({ number: { value }, countNow, everyMs, noun, isFault = false }: BadgeProps) {
  useEffect(() => void countNow(), []);
  useReloadEvery(() => void countNow(), everyMs);
  if (!value) return null;
  return (
    <b class={isFault ? "badge badge-fault" : "badge"}>
      {value > MAX_COUNTED ? `${MAX_COUNTED}+` : value}
      <span class="unseen"> {noun}</span>
    </b>
  );
}
