"""What schemathesis cannot read from the document: see test/input/schemathesis.toml."""

import json

import schemathesis

# A request that fits the schema may be refused by these rules, which no schema can say; the answer names the rule's field.
RULES = {
    # a new step's name, a range that ends before it begins
    "reportStep": {"/stepName", "/jobProgressEnd"},
    # the main session's key, a host that is not allowed, an unknown agent
    "runAgent": {"/sessionKey", "/callbackUrl", "/agentId"},
    # a host that is not allowed, a session that does not exist
    "putJob": {"/callbackUrl", "/returnTo"},
    # a time in the past, a form that MCP's elicitation does not know
    "putGate": {"/expiresAt", "/requestedSchema"},
    # a deletion of everything and filters exclude each other
    "deleteJobs": {"all"},
    # the name of a mapping
    "tryHookRequest": {"/mapping"},
    "replayHookRequest": {"/mapping"},
    # the form of the channel's recipients
    "testChannel": {"/to"},
    "setReplyTarget": {"/to"},
    # what a mapping's forEach names
    "callHook": {"/items"},
}


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """The document describes lines of JSON as text."""
    return value if isinstance(value, bytes) else json.dumps({"text": str(value)}).encode()


@schemathesis.hook
def filter_failure(context, failure, case, response):
    # openapi.json describes `data` of an event as the object that its JSON contains, which generators need;
    # test/api/routes/eventSchemas.test.ts compares the events with it.
    if getattr(failure, "title", "") == "SSE event violates schema":
        return False
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code != 400:
        return True
    operation = case.operation.definition.raw["operationId"]
    problem = response.json()
    if operation == "reportStep" and problem["code"] == "output_required":
        return False
    # The body of the request that is tried is a text, which a mapping may read as JSON.
    if operation == "tryHookRequest" and problem["code"] == "invalid_json":
        return False
    pointers = [error.get("pointer") or error.get("parameter") or "" for error in problem.get("errors", [])]
    rules = RULES.get(operation, set())
    is_by_rule = [any(pointer == rule or pointer.startswith(f"{rule}/") for rule in rules) for pointer in pointers]
    return not pointers or not all(is_by_rule)


# A walk begins with what a list has. Filters drawn at random fit nothing, and it would end where it began.
LISTS = {"listJobs", "listRuns", "listSessions", "listDeliveries", "listGates", "listHookRequests", "listAudit"}


@schemathesis.hook
def before_call(context, case, kwargs):
    walks = case.meta is not None and case.meta.phase.name.value == "stateful" and case.meta.generation.mode.is_positive
    if walks and case.operation.definition.raw["operationId"] in LISTS:
        case.query = {}
