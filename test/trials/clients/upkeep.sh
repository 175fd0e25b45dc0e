# Keeps an account as a list of domains wants it: `sh upkeep.sh [BUG]`. It is the client of upkeep.mjs.
set -u

BUG=${1:-} TRIES=4 DELAY=0.05 PER_REQUEST=50
[ "$BUG" != storm ] || TRIES=20 DELAY=0
[ "$BUG" != too-many ] || PER_REQUEST=1000
WANTED=${WANTED:-shop.example.com mail.example.com News.Example.com}
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT

fail() {
  echo "The account is not as it should be: $1" >&2
  [ "$status" = 401 ] && [ "$BUG" = 401 ] && exit 0
  [ "$status" = 403 ] && [ "$BUG" = 403 ] && exit 0
  exit 1
}

# Sends a request once. The status is 0 if no answer came; `answer` is the body in one line.
send_once() {
  status=$(curl --silent --noproxy '*' --max-time 2 --request "$1" --header "Authorization: Bearer $UNDERSTUDY_API_KEY" \
    --header 'Content-Type: application/json' ${3:+--data-raw "$3"} --dump-header "$FOLDER/headers" \
    --output "$FOLDER/answer" --write-out '%{http_code}' "$UNDERSTUDY_BASE_URL$2") || status=0
  [ "$status" != 0 ] || { code='no answer'; return 1; }
  answer=$(cat "$FOLDER/answer")
  code=$(printf '%s' "$answer" | sed -n 's/.*"code":"\([a-z_]*\)".*/\1/p')
  if [ "$BUG" = only-200 ]; then
    [ "$status" = 200 ]
    return
  fi
  case $answer in
    '{"success":true'*'}') ;;
    '{"success":false'*'}') return 1 ;;
    *) status=0 code='no JSON'; return 1 ;;
  esac
}

send() {
  if [ "$BUG" = blind-retry ]; then persist send_once "$@"; else send_once "$@"; fi
}

# Takes a step again while it fails for a reason that passes. Each step looks first at what is there.
persist() {
  left=$TRIES
  until "$@"; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || fail "$status $code"
    case $status in
      429) wait_for_reset ;;
      0) if [ "$BUG" = no-retry ]; then fail "$code"; else sleep $DELAY; fi ;;
      5*) sleep $DELAY ;;
      *) fail "$status $code" ;;
    esac
  done
}

wait_for_reset() {
  reset=$(sed -n 's/^x-ratelimit-reset: *\([0-9]*\).*/\1/Ip' "$FOLDER/headers")
  case $BUG in
    reset-as-seconds) sleep "$reset" ;;
    fixed-sleep) sleep 3 ;;
    storm) ;;
    *) while [ "$(date +%s)" -lt "$reset" ]; do sleep 0.2; done ;;
  esac
}

lower() { tr '[:upper:]' '[:lower:]'; }
words() { tr -s ' \n' '\n\n' | sed '/^$/d'; }
monitored() { printf '%s' "$answer" | sed 's/.*"domains":\[\([^]]*\)\].*/\1/; s/[",]/ /g' | lower | words; }
quoted() { sed 's/.*/"&"/' | paste -s -d , -; }

remove_others() {
  send GET /domains || return 1
  others=$(monitored | grep -vxF "$(echo "$WANTED" | lower | words)" | quoted)
  [ -n "$others" ] || return 0
  send DELETE /domains "{\"domains\":[$others]}" || { [ "$BUG" = in-use ] && [ "$code" = domain_delete_failed ]; }
}

add_missing() {
  send GET /domains || return 1
  monitored >"$FOLDER/known"
  for name in $WANTED; do
    echo "$name" | lower | grep -qxFf "$FOLDER/known" || echo "$name"
  done | xargs -n "$PER_REQUEST" >"$FOLDER/missing"
  while read -r some; do
    [ -n "$some" ] || continue
    send POST /domains "{\"domains\":[$(echo "$some" | words | quoted)]}" && continue
    [ "$BUG" = batch ] && [ "$status" = 400 ] || return 1
    echo "Left out: $some" >&2
    WANTED=$(echo "$WANTED" | words | grep -vxF "$(echo "$some" | words)" | paste -s -d ' ' -)
  done <"$FOLDER/missing"
}

form_group() {
  send GET /domaingroups || return 1
  case $answer in *'"name":"Retail"'*) return 0 ;; esac
  send POST /domaingroups "{\"name\":\"Retail\",\"domains\":[$(echo "$WANTED" | words | head -n 2 | quoted)]}"
}

# Each record in a line: its domain, its policy, and the share of mail that passes.
records() {
  printf '%s' "$answer" | sed 's/{"domain"/\n&/g' |
    sed -n 's/.*"domain":"\([^"]*\)".*"p":"\([^"]*\)".*"dmarc":\([0-9.]*\).*/\1|\2|\3/p'
}

report() {
  send GET /dmarc || return 1
  records >"$FOLDER/spelt"
  if [ "$BUG" = case ]; then cp "$FOLDER/spelt" "$FOLDER/records"; else lower <"$FOLDER/spelt" >"$FOLDER/records"; fi
  cut -d '|' -f 1 "$FOLDER/records" | lower >"$FOLDER/names"
  if [ "$BUG" = order ] && [ "$(cat "$FOLDER/names")" != "$(echo "$WANTED" | lower | words | head -n "$(wc -l <"$FOLDER/names")")" ]; then
    fail 'the records are those of other domains'
  fi
  first=yes
  for name in $WANTED; do
    record=$(grep "^$(echo "$name" | lower)|" "$FOLDER/records") || record='|no record yet|0'
    policy=$(echo "$record" | cut -d '|' -f 2) share=$(echo "$record" | cut -d '|' -f 3)
    case $policy in
      none) meaning=watched ;;
      quarantine | reject) meaning=protected ;;
      *) meaning=$policy; [ "$BUG" != unknown-policy ] || fail "the policy $policy of $name is unknown" ;;
    esac
    echo "$name: $meaning, $share %"
    full=$share
    [ "$BUG" != number-as-text ] || full=100.0
    if [ $first = yes ]; then
      case $share in 100 | 100.0 | 100.00) ;; *) full= ;; esac
      [ "$share" = "$full" ] || fail "not all mail of $name passes"
    fi
    first=no
  done
}

for step in remove_others add_missing form_group report; do
  if [ "$BUG" = blind-retry ]; then $step || fail "$status $code"; else persist $step; fi
done
