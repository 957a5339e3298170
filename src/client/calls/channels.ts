import type { ChannelCheck, CurrentReplyTarget, ReplyTarget } from "../../wire/channel.ts";
import type { Call, CallOptions } from "../api.ts";
import { pathSegment } from "../connection.ts";
import type { Delivery } from "../records/deliveries.ts";
import type { Channel } from "../records/service.ts";

const REPLY_TARGET = "/api/sessions/main/reply-target";

/** Returns the calls that act on channels, for the command line and the page: they are not part of the client. */
export const channelCalls = (call: Call) => {
  const act =
    <Body>(name: string) =>
    (channel: string, options?: CallOptions) =>
      call<Body>("POST", `/api/channels${pathSegment(channel)}/${name}`, options);
  return {
    /** Sends a message. The recipient is by default that of the main session's replies. */
    test: (channel: string, message: { to?: string; text?: string } = {}, options?: CallOptions) =>
      call<Delivery>("POST", `/api/channels${pathSegment(channel)}/test`, { ...options, body: message }),
    /** Lets a stopped channel try its credentials again at once. */
    resume: act<Channel>("resume"),
    /** Checks the credentials without sending a message. */
    check: act<ChannelCheck>("check"),
    replyTarget: (options?: CallOptions) => call<CurrentReplyTarget>("GET", REPLY_TARGET, options),
    setReplyTarget: (target: ReplyTarget, options?: CallOptions) =>
      call<CurrentReplyTarget>("PUT", REPLY_TARGET, { ...options, body: target }),
    /** Lets the target of the configuration apply again. */
    clearReplyTarget: (options?: CallOptions) => call<CurrentReplyTarget>("DELETE", REPLY_TARGET, options),
  };
};
