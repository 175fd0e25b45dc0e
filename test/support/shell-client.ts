import { fileURLToPath } from 'node:url'

const STAND_IN = fileURLToPath(new URL('./curl-stand-in.mjs', import.meta.url))

/** Lets a script call curl on a machine that has none, as a bare Node.js has none. */
export const WITH_CURL = `command -v curl >/dev/null || curl() { '${process.execPath}' '${STAND_IN}' "$@"; }; `

/** What the script of a client begins with, in one line, so that a person can copy a command with it. */
export const SEND = [
  'set -eu;',
  WITH_CURL,
  'send() { method=$1 path=$2; shift 2;',
  'curl --silent --noproxy "*" --request "$method" --header "Authorization: Bearer $UNDERSTUDY_API_KEY"',
  '--header "Content-Type: application/json" --write-out "\\n%{http_code}\\n" "$@" "$UNDERSTUDY_BASE_URL$path";',
  '}; ',
].join(' ')

/**
 * The command that runs a shell script, which may call `send METHOD PATH [OPTIONS OF CURL]` for a body and, in a line of its
 * own, the status. It starts in a tenth of the time that Node.js needs.
 */
export function shellClient(script: string): string[] {
  return ['sh', '-c', `${SEND}${script}`]
}
