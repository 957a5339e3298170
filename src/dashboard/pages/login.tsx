import { useEffect, useRef, useState } from "preact/hooks";
import { SignalboxError } from "../../client/client.ts";
import { access, logIn } from "../data/access.ts";
import { explain } from "../data/errors.ts";
import { address, place } from "../router.ts";
import { useTitle } from "../title.ts";

/** Returns the path of the page that the login leads back to. */
const target = (): string => place.value.query.get("to") ?? address("/");

export function LoginPage() {
  useTitle("Log in");
  const [token, setToken] = useState("");
  const [fault, setFault] = useState("");
  const [isPending, setPending] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const provider = access.value?.provider;
  useEffect(() => (provider ? undefined : field.current?.focus()), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setPending(true);
    setFault("");
    try {
      await logIn(token.trim());
    } catch (error) {
      const isWrong = error instanceof SignalboxError && error.status === 401;
      setFault(isWrong ? "This is not the token of this service." : explain(error).join(": "));
      setPending(false);
    }
  };
  return (
    <form class="login card stack" onSubmit={submit}>
      <h1>Log in</h1>
      {provider && (
        <a class="button" href={`${provider.url}?to=${encodeURIComponent(target())}`}>
          Log in with {provider.name}
        </a>
      )}
      <p class="muted">Enter your token. The browser stores a cookie, not the token.</p>
      {/* Password managers tell services by it. */}
      <input
        class="unseen"
        name="username"
        autocomplete="username"
        value={location.host}
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      <label class="field">
        Token
        <input
          ref={field}
          type="password"
          name="token"
          autocomplete="current-password"
          required
          value={token}
          aria-describedby={fault ? "fault" : undefined}
          aria-invalid={fault !== ""}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
      </label>
      {fault && (
        <p id="fault" class="fault" role="alert">
          {fault}
        </p>
      )}
      <button type="submit" class="primary" disabled={isPending}>
        Log in
      </button>
      <details class="muted">
        <summary>Where do I get one?</summary>
        From whoever runs the service: <code>server.apiToken</code> of its configuration,{" "}
        <code>server.readOnlyToken</code> to look only, or one of <code>server.tokens</code> with the scope{" "}
        <code>jobs:read</code>.
      </details>
    </form>
  );
}
