import { BASE_PATH } from "../basePath.ts";
import { access, logOut } from "../data/access.ts";
import { liveState } from "../data/live.ts";
import { address, type Place } from "../router.ts";
import { showHelp } from "../shortcuts.tsx";
import { nextTheme, theme } from "../theme.ts";
import { Icon } from "./icon.tsx";
import { showError } from "./toasts.tsx";

const LINKS = [
  ["/", "Jobs", /^\/(jobs\/|$)/],
  ["/runs", "Runs", /^\/runs/],
  ["/sessions", "Sessions", /^\/sessions/],
  ["/deliveries", "Deliveries", /^\/deliveries/],
  ["/channels", "Channels", /^\/channels/],
] as const;

const THEMES = { auto: "system", light: "light", dark: "dark" } as const;

/** @param isPlain whether to omit the navigation, as before the login */
export function TopBar({ place, isPlain }: { place: Place; isPlain: boolean }) {
  const chosen = theme.value;
  const currentAccess = access.value;
  return (
    <header class="top">
      <a class="brand" href={address("/")}>
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
          <rect width="32" height="32" rx="7" class="brand-tile" />
          <path d="M8 11h16M8 21h16" class="brand-track" />
          <path d="M8 21c6 0 10-10 16-10" class="brand-route" />
          <circle cx="24" cy="11" r="3.2" class="brand-light" />
        </svg>
        <span class="brand-name">Signalbox</span>
      </a>
      {!isPlain && (
        <nav aria-label="Main">
          {LINKS.map(([path, title, fits]) => (
            <a key={path} href={address(path)} aria-current={fits.test(place.path ?? "") ? "page" : undefined}>
              {title}
            </a>
          ))}
          <a href={`${BASE_PATH}/queues`} class="aside">
            Queues
          </a>
          <a href={`${BASE_PATH}/docs`} class="aside">
            API
          </a>
          <a href={`${BASE_PATH}/guide/`} class="aside">
            Guide
          </a>
        </nav>
      )}
      <div class="top-end">
        {currentAccess?.access === "read" && (
          <span class="tag" title="This token allows reading only. Actions that change data are hidden.">
            Read-only
          </span>
        )}
        {!isPlain && <Live />}
        <button
          type="button"
          class="icon-button"
          onClick={nextTheme}
          aria-label={`Theme: ${THEMES[chosen]}`}
          title={`Theme: ${THEMES[chosen]}`}
        >
          <Icon name={chosen === "auto" ? "auto" : chosen === "dark" ? "moon" : "sun"} />
        </button>
        <button
          type="button"
          class="icon-button"
          onClick={showHelp}
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
        >
          <Icon name="help" />
        </button>
        {currentAccess?.needsToken && currentAccess.access && (
          <button
            type="button"
            class="icon-button"
            onClick={() => logOut().catch(showError)}
            aria-label="Log out"
            title="Log out"
          >
            <Icon name="out" />
          </button>
        )}
      </div>
    </header>
  );
}

const LIVE = {
  connecting: "Connecting",
  live: "Live",
  paused: "Paused",
  away: "Offline",
  none: "",
} as const;

function Live() {
  const state = liveState.value;
  return (
    <span class={`live live-${state}`} role="status">
      {LIVE[state]}
    </span>
  );
}
