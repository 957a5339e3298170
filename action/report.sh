#!/bin/sh
# Reports a step, a message or the end of a workflow's job. It never fails the workflow: a report that does not arrive leaves a
# warning. For the next call, SIGNALBOX_STEP is the number of the present step, and SIGNALBOX_PERCENT the progress of the job.
export LC_ALL=C # any bytes are text

warn() {
  echo "::warning::$1"
  exit 0
}
case $JOB in
  "" | *[!A-Za-z0-9._-]*)
    warn "Nothing was reported to Signalbox: job may contain letters, digits, dots, dashes and underscores."
    ;;
esac
case $PERCENT in
  *[!0-9]* | ???* | 0?*) warn "Nothing was reported to Signalbox: percent is a whole number from 0 to 99." ;;
esac

# Prints a text as a JSON string, with spaces in place of line ends and other control characters.
json() {
  printf '"%s"' "$(printf %s "$1" | tr '\000-\037' ' ' | sed 's/["\\]/\\&/g')"
}

# put PATH FIELDS
put() {
  printf 'Authorization: Bearer %s\n' "$TOKEN" |
    curl -fsS -m 10 --retry 2 -o /dev/null -X PUT -H @- -H 'Content-Type: application/json' --data-raw "{$2}" \
      "${URL%/}/api/jobs/$JOB$1" ||
    warn "The report to Signalbox failed."
}

# report END FIELDS: reports on the present step, which brings the job to END percent when its own progress is 100.
report() {
  put "/steps/$number" "\"jobProgressStart\":$from,\"jobProgressEnd\":$1,$2"
}

number=${SIGNALBOX_STEP:-0}
from=${SIGNALBOX_PERCENT:-0}
reached=${PERCENT:-$from}
[ "$reached" -ge "$from" ] || reached=$from
message=
[ -z "$MESSAGE" ] || message=",\"message\":$(json "$MESSAGE")"

if [ "$number" = 0 ]; then
  run=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID/attempts/$GITHUB_RUN_ATTEMPT
  put "" "\"name\":$(json "${NAME:-$GITHUB_REPOSITORY: $GITHUB_WORKFLOW / $GITHUB_JOB}"),
    \"links\":[{\"title\":\"Run on GitHub\",\"url\":$(json "$run")}],
    \"metadata\":{\"repository\":$(json "$GITHUB_REPOSITORY"),\"ref\":$(json "$GITHUB_REF_NAME"),\"sha\":$(json "$GITHUB_SHA")}"
  STEP=${STEP:-$GITHUB_JOB}
fi
if [ -n "$STEP" ]; then
  # The workflow has come this far, so that the step before has succeeded.
  [ "$number" = 0 ] || report "$reached" '"status":"completed","progress":100'
  number=$((number + 1))
  from=$reached
  report "$from" "\"stepName\":$(json "$STEP"),\"status\":\"running\",\"progress\":0$message"
elif [ -n "$MESSAGE$PERCENT" ]; then
  from=$reached
  report "$from" "\"status\":\"running\",\"progress\":0$message"
fi
printf 'SIGNALBOX_STEP=%s\nSIGNALBOX_PERCENT=%s\n' "$number" "$from" >>"$GITHUB_ENV"

case $STATUS in
  "") ;;
  success) report 100 "\"status\":\"completed\",\"progress\":100,\"output\":{\"status\":\"success\"}$message" ;;
  *) report 100 "\"status\":\"failed\",\"failJob\":true,\"message\":$(json "${MESSAGE:-$STATUS}")" ;;
esac
