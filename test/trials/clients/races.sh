# Clients of a few lines that are right alone: `sh races.sh NAME [ARGUMENT]`. They are like those of races.mjs.
set -eu

send() {
  method=$1 path=$2
  shift 2
  curl --silent --fail --noproxy '*' --request "$method" --header "Authorization: Bearer $UNDERSTUDY_API_KEY" \
    --header 'Content-Type: application/json' "$@" "$UNDERSTUDY_BASE_URL$path"
}

case $1 in
  ensure) send GET /domaingroups | grep -q "\"$2\"" || send POST /domaingroups --data "{\"name\": \"$2\"}" ;;
  read) send GET /domaingroups ;;
esac
