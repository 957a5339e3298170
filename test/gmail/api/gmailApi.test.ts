import { expect } from "chai";
import { createGmailApi, type GmailApi } from "../../../src/gmail/api/gmailApi.ts";
import { createGoogleAuth, type GoogleAuth } from "../../../src/gmail/auth/googleAuth.ts";
import { type GoogleServer, startGoogleServer } from "../../support/gmail/googleServer.ts";
import { answers } from "../../support/servers/channelServer.ts";

const never = new AbortController().signal;

describe("createGmailApi", () => {
  let google: GoogleServer;
  let auth: GoogleAuth;
  let gmail: GmailApi;

  beforeEach(async () => {
    google = await startGoogleServer();
    const credentials = { type: "authorized_user", client_id: "c", client_secret: "s", refresh_token: "r" } as const;
    auth = createGoogleAuth({ credentials, scopes: [], tokenUrl: google.tokenUrl });
    gmail = createGmailApi(auth, { url: google.url });
  });

  afterEach(() => google.close());

  /** Returns method, path, query and body of the requests to Gmail. */
  const asked = () =>
    google.requestsTo(/gmail/).map(({ method, path, body }) => [`${method} ${decodeURIComponent(path)}`, body]);

  it("reads the profile", async () => {
    expect(await gmail.getProfile(never)).to.deep.equal({ emailAddress: "ada@example.org", historyId: "1000" });
    expect(asked()).to.deep.equal([["GET /gmail/v1/users/me/profile", undefined]]);
  });

  it("starts and stops a watch on a label", async () => {
    const watched = await gmail.watch({ topic: "projects/p/topics/t", labelIds: ["INBOX"] }, never);
    expect(watched).to.deep.equal({ historyId: "1000", expiresAt: new Date(google.watch!.expiration) });

    await gmail.stop(never);

    expect(google.watch).to.equal(null);
    expect(asked()).to.deep.equal([
      [
        "POST /gmail/v1/users/me/watch",
        { topicName: "projects/p/topics/t", labelIds: ["INBOX"], labelFilterBehavior: "INCLUDE" },
      ],
      ["POST /gmail/v1/users/me/stop", undefined],
    ]);
  });

  it("watches the whole mailbox without a label", async () => {
    await gmail.watch({ topic: "projects/p/topics/t", labelIds: [] }, never);

    expect(asked()[0]![1]).to.deep.equal({ topicName: "projects/p/topics/t" });
  });

  it("returns transient for a watch without an expiry", async () => {
    google.fail(/watch/, answers(200, { historyId: "1000" }));

    const error = await gmail.watch({ topic: "projects/p/topics/t", labelIds: [] }, never).catch((thrown) => thrown);

    expect(error).to.include({ kind: "transient", reason: "Gmail's answer could not be read." });
  });

  it("lists added mails of all pages in order and without duplicates", async () => {
    google.mailbox.pageSize = 2;
    google.mailbox.add({ labelIds: ["SPAM"] });
    const added = [1, 2, 3].map(() => google.mailbox.add());

    const history = await gmail.listHistory("1000", "INBOX", never);

    expect(history).to.deep.equal({ messageIds: added, historyId: "1004", more: false });
    const path =
      "GET /gmail/v1/users/me/history?startHistoryId=1000&historyTypes=messageAdded&maxResults=500&labelId=INBOX";
    expect(asked().map(([line]) => line)).to.deep.equal([path, `${path}&pageToken=2`]);
  });

  it("lists nothing if nothing was added, and returns the mailbox's history id", async () => {
    google.mailbox.historyId = 1_500;

    expect(await gmail.listHistory("1000", undefined, never)).to.deep.equal({
      messageIds: [],
      historyId: "1500",
      more: false,
    });
  });

  it("lists a mail in two records once and skips records without a mail", async () => {
    const message = { id: "m1" };
    const history = [
      { id: "1001", messagesAdded: [{ message }] },
      { id: "1002" },
      { id: "1003", messagesAdded: [{ message }, {}] },
    ];
    google.fail(/history/, answers(200, { history, historyId: "1003" }));

    expect(await gmail.listHistory("1000", "INBOX", never)).to.deep.equal({
      messageIds: ["m1"],
      historyId: "1003",
      more: false,
    });
  });

  it("returns the history id of the first page, as later changes may be in no page", async () => {
    const record = (id: string) => ({ id, messagesAdded: [{ message: { id: `mail-${id}` } }] });
    google.fail(
      /history/,
      answers(200, { history: [record("1001")], historyId: "1002", nextPageToken: "x" }),
      answers(200, { history: [record("1002")], historyId: "9007199254740999" }),
    );

    expect(await gmail.listHistory("1000", "INBOX", never)).to.include({ historyId: "1002", more: false });
  });

  it("stops at the page limit with an id from which the rest can be listed", async () => {
    google.mailbox.pageSize = 1;
    const added = [1, 2, 3].map(() => google.mailbox.add());
    const bounded = createGmailApi(auth, { url: google.url, maxPages: 2 });

    const first = await bounded.listHistory("1000", "INBOX", never);
    const rest = await bounded.listHistory("1002", "INBOX", never);

    expect(first).to.deep.equal({ messageIds: added.slice(0, 2), historyId: "1002", more: true });
    expect(rest).to.deep.equal({ messageIds: added.slice(2), historyId: "1003", more: false });
  });

  it("exceeds the page limit for pages without records, which would not advance the id", async () => {
    const bounded = createGmailApi(auth, { url: google.url, maxPages: 1 });
    google.fail(
      /history/,
      answers(200, { historyId: "1009", nextPageToken: "x" }),
      answers(200, { historyId: "1009", nextPageToken: "y" }),
      answers(200, { historyId: "1009" }),
    );

    expect(await bounded.listHistory("1000", "INBOX", never)).to.include({ historyId: "1009", more: false });
  });

  it("returns too-old for a history that Gmail no longer stores", async () => {
    google.mailbox.oldestHistoryId = 1_001;

    expect(await gmail.listHistory("1000", "INBOX", never)).to.equal("too-old");
  });

  it("lists mails by query and labels, newest first, over pages and up to a limit", async () => {
    google.mailbox.pageSize = 2;
    const [, ...newer] = [1, 2, 3, 4].map(() => google.mailbox.add());
    google.mailbox.add({ labelIds: ["SENT"] });

    const listed = await gmail.listMessages({ query: "newer_than:2d", labelIds: ["INBOX", "UNREAD"], max: 3 }, never);

    expect(listed).to.deep.equal({ messageIds: newer.reverse(), more: true });
    const path = "GET /gmail/v1/users/me/messages?maxResults=";
    const filter = "&q=newer_than:2d&labelIds=INBOX&labelIds=UNREAD";
    expect(asked().map(([line]) => line)).to.deep.equal([`${path}3${filter}`, `${path}1${filter}&pageToken=2`]);
    expect(await gmail.listMessages({ max: 9 }, never)).to.deep.include({ more: false });
    expect(await gmail.listMessages({ labelIds: ["NONE"], max: 9 }, never)).to.deep.equal({
      messageIds: [],
      more: false,
    });
  });

  it("returns a mail with or without its body, and null if it no longer exists", async () => {
    const id = google.mailbox.add({ payload: { headers: [], body: { size: 2, data: "aGk" } } });

    const whole = await gmail.getMessage(id, { includeBody: true }, never);
    const head = await gmail.getMessage(id, { includeBody: false }, never);
    google.mailbox.remove(id);
    const gone = await gmail.getMessage(id, { includeBody: true }, never);

    expect(whole?.payload?.body?.data).to.equal("aGk");
    expect(head?.payload).to.deep.equal({ headers: [] });
    expect(gone).to.equal(null);
    expect(asked().map(([line]) => line)).to.deep.equal(
      ["full", "metadata", "full"].map((format) => `GET /gmail/v1/users/me/messages/${id}?format=${format}`),
    );
  });
});
