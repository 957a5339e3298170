import { access, hasScope } from "../../data/access.ts";
import { testHook } from "../../data/service.ts";
import { useMutation } from "../../data/useMutation.ts";
import { address, navigate } from "../../router.ts";

/**
 * A button that starts a run with a test message and opens it, if hooks are on and the login may call the agent hook.
 * @param isPrimary whether it is what the page suggests first
 */
export function TestHook({ isPrimary = false }: { isPrimary?: boolean }) {
  const currentAccess = access.value;
  const { isPending, mutate } = useMutation("");
  const canRead = hasScope(currentAccess, "runs:read");
  if (!currentAccess?.hooksUrl || !canRead || !hasScope(currentAccess, "hooks:agent")) return null;
  const send = async () => navigate(address("/runs/:runId", (await testHook()).runId));
  return (
    <p>
      <button
        type="button"
        class={isPrimary ? "primary" : undefined}
        disabled={isPending}
        onClick={() => mutate(send, "Test hook sent")}
      >
        Send a test hook
      </button>{" "}
      starts a run of the agent and opens it.
    </p>
  );
}
