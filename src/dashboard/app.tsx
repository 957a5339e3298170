import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Palette } from "./components/frame/palette.tsx";
import { Toasts } from "./components/frame/toasts.tsx";
import { TopBar } from "./components/frame/topBar.tsx";
import { Icon } from "./components/icon.tsx";
import { Failure, NotFound } from "./components/notice.tsx";
import { access, accessError, readAccess, redirectToLogin } from "./data/access.ts";
import { liveState } from "./data/live/live.ts";
import { AuditPage } from "./pages/audit.tsx";
import { BudgetsPage } from "./pages/budgets.tsx";
import { ChannelsPage } from "./pages/channels.tsx";
import { DeliveriesPage } from "./pages/deliveries.tsx";
import { GatesPage } from "./pages/gates.tsx";
import { HistoryPage } from "./pages/history.tsx";
import { JobPage } from "./pages/job.tsx";
import { JobsPage } from "./pages/jobs.tsx";
import { LoginPage } from "./pages/login.tsx";
import { NotifyPage } from "./pages/notify.tsx";
import { RequestPage } from "./pages/request.tsx";
import { RequestsPage } from "./pages/requests.tsx";
import { RunPage } from "./pages/run.tsx";
import { RunsPage } from "./pages/runs.tsx";
import { SessionPage } from "./pages/session.tsx";
import { SessionsPage } from "./pages/sessions.tsx";
import { SettingsPage } from "./pages/settings.tsx";
import type { Path } from "./paths.ts";
import { address, isDashboardPath, navigate, type Place, place } from "./router.ts";
import { Shortcuts } from "./shortcuts.tsx";
import { useTitle } from "./title.ts";

const PAGES: Readonly<Record<Path, ComponentType<{ place: Place }>>> = {
  "/": JobsPage,
  "/jobs/:jobId": JobPage,
  "/history": HistoryPage,
  "/gates": GatesPage,
  "/runs": RunsPage,
  "/runs/:runId": RunPage,
  "/budgets": BudgetsPage,
  "/sessions": SessionsPage,
  "/sessions/:sessionKey": SessionPage,
  "/requests": RequestsPage,
  "/requests/:requestId": RequestPage,
  "/deliveries": DeliveriesPage,
  "/notify": NotifyPage,
  "/channels": ChannelsPage,
  "/audit": AuditPage,
  "/settings": SettingsPage,
  "/login": LoginPage,
};

export function App() {
  const here = place.value;
  const currentAccess = access.value;
  const failed = accessError.value;
  const isLogin = here.path === "/login";
  const needsLogin = currentAccess?.needsToken && currentAccess.access === null;
  const mayNothing = currentAccess?.by === "proxy" && currentAccess.scopes.length === 0;
  useEffect(() => {
    if (needsLogin) redirectToLogin();
    else if (currentAccess && isLogin) leaveLogin(loginTarget(here));
  }, [currentAccess, isLogin]);
  const main = useFocusOnMove(here);
  return (
    <>
      <a class="skip button primary" href="#main">
        Skip to content
      </a>
      <TopBar place={here} isPlain={!currentAccess || Boolean(needsLogin) || mayNothing} />
      {currentAccess && !needsLogin && <Banner />}
      <main id="main" ref={main} tabIndex={-1}>
        {mayNothing && <NoRole name={currentAccess.name} />}
        <Content
          here={here}
          isReady={currentAccess !== null && !mayNothing && Boolean(needsLogin) === isLogin}
          failed={failed}
        />
      </main>
      <Toasts />
      <Shortcuts />
      {currentAccess && !needsLogin && <Palette />}
    </>
  );
}

function Content({ here, isReady, failed }: { here: Place; isReady: boolean; failed: unknown }) {
  if (!isReady) return failed ? <Failure error={failed} retry={readAccess} /> : null;
  if (!here.path) return <UnknownPage />;
  const Page = PAGES[here.path];
  return <Page key={here.path + here.id} place={here} />;
}

/** The page of a person whom a proxy names, and to whom no role gives anything. */
function NoRole({ name }: { name: string | null }) {
  useTitle("You may not use this service");
  return (
    <NotFound title="You may not use this service">
      You are logged in at the proxy as {name}, and none of your groups has a role here. The operator has to add one of
      them to <code>server.userHeader.roles</code>, and then run <code>signalbox reload</code>.
    </NotFound>
  );
}

/** The page of an address that names none. The service answers such an address with this document and the status 404. */
function UnknownPage() {
  useTitle("Page not found");
  return (
    <NotFound title="Page not found">
      The address is wrong or incomplete. <a href={address("/")}>See all jobs</a>
    </NotFound>
  );
}

/** Returns the address to open after the login. It never leaves this service's origin. */
function loginTarget({ query }: Place): URL {
  const home = new URL(address("/"), location.origin);
  const to = URL.parse(query.get("to") ?? "", home);
  return to?.origin === location.origin && to.pathname !== address("/login") ? to : home;
}

/** Opens the address after the login. */
function leaveLogin({ pathname, search }: URL): void {
  if (isDashboardPath(pathname)) navigate(pathname + search, { replace: true });
  else navigate(address("/"), { replace: true });
}

/** Moves the focus to the content when the page changes, so that screen readers start at its top. */
function useFocusOnMove({ path, id }: Place) {
  const main = useRef<HTMLElement>(null);
  const last = useRef(`${path} ${id}`);
  useLayoutEffect(() => {
    if (last.current === `${path} ${id}`) return;
    last.current = `${path} ${id}`;
    main.current?.focus({ preventScroll: true });
  }, [path, id]);
  return main;
}

const TEXTS = {
  paused:
    "Live updates are paused: the service has lost its connection to Redis. This page may be out of date. Updates resume automatically.",
  away: "Live updates are paused: the service cannot be reached. This page may be out of date. It reconnects automatically.",
} as const;

/** Shows a warning while live updates do not arrive. */
function Banner() {
  const state = liveState.value;
  if (state !== "paused" && state !== "away") return null;
  return (
    <p class="banner note line" role="alert">
      <Icon name="warn" /> {TEXTS[state]}
    </p>
  );
}
