"""What schemathesis cannot read from the document: see test/input/schemathesis.toml."""

import schemathesis

# A request that fits the schema may be refused by these rules, which no schema can say; the answer names the rule's field.
RULES = {
    # a new step's name, a range that ends before it begins
    "reportStep": {"/stepName", "/jobProgressEnd"},
    # the main session's key
    "runAgent": {"/sessionKey"},
    # what a mapping's forEach names
    "callHook": {"/items"},
}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code != 400:
        return True
    operation = case.operation.definition.raw["operationId"]
    problem = response.json()
    if operation == "reportStep" and problem["code"] == "output_required":
        return False
    pointers = {error.get("pointer") for error in problem.get("errors", [])}
    return not pointers or not pointers <= RULES.get(operation, set())


# A walk begins with what a list has. Filters drawn at random fit nothing, and it would end where it began.
LISTS = {"listJobs", "listRuns", "listSessions", "listDeliveries"}


@schemathesis.hook
def before_call(context, case, kwargs):
    walks = case.meta is not None and case.meta.phase.name.value == "stateful" and case.meta.generation.mode.is_positive
    if walks and case.operation.definition.raw["operationId"] in LISTS:
        case.query = {}
