#!/bin/sh
# The command of the image `all-in-one`: `signalbox start`. Other machines can reach its port, so that it needs an API token: that of the
# given settings, else one that the first start makes and each start prints.
if [ -z "$SIGNALBOX_API_TOKEN$SIGNALBOX_CONFIG$SIGNALBOX_CONFIG_JSON" ]; then
  file=$SIGNALBOX_DATA_DIR/api-token
  if [ ! -s "$file" ]; then
    (umask 077 && node -p 'crypto.randomBytes(24).toString("base64url")' > "$file") || exit 1
  fi
  SIGNALBOX_API_TOKEN=$(cat "$file")
  export SIGNALBOX_API_TOKEN
  echo "Log in with the API token $SIGNALBOX_API_TOKEN"
fi
exec node src/cli/main.ts start "$@"
