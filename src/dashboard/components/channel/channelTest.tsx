import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Channel } from "../../../client/client.ts";
import type { ReplyTarget } from "../../../wire/channel.ts";
import { service } from "../../data/service.ts";
import { useMutation } from "../../data/useMutation.ts";
import { useQuery } from "../../data/useQuery.ts";
import { address } from "../../router.ts";
import { ActButton } from "../buttons.tsx";
import { testResult } from "../delivery/deliveryList.tsx";

/** The service's limits. */
const MAX_RECIPIENT_CHARS = 512;
const MAX_TEXT_CHARS = 65_536;

export interface ChannelProps {
  readonly channel: Channel;
  /** The recipient of replies of the main session. */
  readonly route: ReplyTarget | null;
  /** Called after each action, which may have changed the channel. */
  readonly onChange: () => void;
}

/** The button that opens a form for a test message, and the result of the latest one. */
export function ChannelTest({ channel: one, route, onChange }: ChannelProps) {
  const { channel } = one;
  const [isOpen, setOpen] = useState(false);
  const [deliveryId, setDeliveryId] = useState<string | null>(null);
  const formId = useId();
  return (
    <>
      <p class="acts line end">
        <ActButton
          icon="up"
          label="Test"
          aria-expanded={isOpen}
          aria-controls={formId}
          aria-label={`Send test message to ${channel}`}
          act={() => setOpen(!isOpen)}
        />
      </p>
      <div id={formId} class="whole" hidden={!isOpen}>
        {isOpen && (
          <TestForm
            channel={channel}
            recipient={route?.channel === channel ? route.to : ""}
            onSent={setDeliveryId}
            onEnd={onChange}
          />
        )}
      </div>
      <p role="status" class="whole">
        {deliveryId !== null && <TestResult channel={one} deliveryId={deliveryId} />}
      </p>
    </>
  );
}

interface TestFormProps {
  readonly channel: string;
  readonly recipient: string;
  readonly onSent: (deliveryId: string) => void;
  readonly onEnd: () => void;
}

function TestForm({ channel, recipient, onSent, onEnd }: TestFormProps) {
  const [to, setTo] = useState(recipient);
  const [text, setText] = useState("");
  const first = useRef<HTMLInputElement>(null);
  const { isPending, mutate } = useMutation(channel, onEnd);
  useEffect(() => first.current?.focus(), []);
  const send = () =>
    mutate(async (name) => {
      const message = { to, ...(text.trim() && { text }) };
      onSent((await service.channel.test(name, message)).deliveryId);
    }, "Test message requested");
  const useForReplies = () =>
    mutate((name) => service.channel.setReplyTarget({ channel: name, to }), `Replies go to ${to.trim()} from now on`);
  return (
    <form
      class="channel-test stack"
      aria-label={`Test message to ${channel}`}
      onSubmit={(event) => {
        event.preventDefault();
        const pressed = (event as SubmitEvent).submitter as HTMLButtonElement | null;
        void (pressed?.value === "replies" ? useForReplies() : send());
      }}
    >
      <label class="field">
        Recipient
        <input
          ref={first}
          required
          pattern=".*\S.*"
          title="The recipient in the notation of the channel, such as a chat id"
          maxLength={MAX_RECIPIENT_CHARS}
          value={to}
          onInput={({ currentTarget }) => setTo(currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>
          Text <span class="muted">(optional)</span>
        </span>
        <input
          placeholder="This is a test message of Signalbox."
          maxLength={MAX_TEXT_CHARS}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p class="acts line">
        <button type="submit" value="send" class="primary" disabled={isPending}>
          Send
        </button>
        <button type="submit" value="replies" disabled={isPending}>
          Use for replies
        </button>
      </p>
    </form>
  );
}

/** Maximum deliveries of the channel that can be newer than the test while its result is shown. */
const NEWEST = 100;

/** The result of a test message, which is read again whenever the channel is. */
function TestResult({ channel: one, deliveryId }: { channel: Channel; deliveryId: string }) {
  const { channel } = one;
  const { value, reload } = useQuery(async (signal) => {
    const { deliveries } = await service.deliveries.list({ channel, limit: NEWEST }, { signal });
    return deliveries.find((delivery) => delivery.deliveryId === deliveryId) ?? null;
  }, deliveryId);
  useEffect(() => {
    if (value?.state === "pending") reload();
  }, [one]);
  return (
    <>
      {value && testResult(value)}{" "}
      <a href={`${address("/deliveries")}?channel=${encodeURIComponent(channel)}`}>Show the delivery</a>
    </>
  );
}
