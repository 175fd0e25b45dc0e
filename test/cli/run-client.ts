import { runInProcess } from '../support/program-in-process.ts'
import type { Result, RunOptions } from '../support/running-program.ts'
import { WITH_CURL } from '../support/shell-client.ts'

/**
 * A client in a shell, which begins in a tenth of the time of one in JavaScript: `ask METHOD PATH [BODY [KEY [OPTION]]]` calls the
 * service, and `control METHOD PATH [BODY]` the control plane.
 */
const CLIENT = `${WITH_CURL}
send() {
  curl --disable --silent --noproxy '*' --request "$2" "$1" --header 'content-type: application/json' \\
    --header "authorization: Bearer \${4:-$UNDERSTUDY_API_KEY}" \${3:+--data-raw "$3"} $5
}
ask() { send "$UNDERSTUDY_BASE_URL$2" "$1" "$3" "$4" "$5"; }
control() { send "$UNDERSTUDY_ADMIN_URL$2" "$1" "$3"; }
`
export const ENVIRONMENT = { CLIENT }
export const LAWFUL = `ask GET /domains; ask POST /domains '{"domains":["ci.example"]}'`
export const VIOLATING = `ask POST /domains '{"domain":"new.example"}'`

/** The command of a client. It stays as short as its code, because the program prints it. */
function client(code: string): string[] {
  return ['sh', '-c', `eval "$CLIENT"; ${code}`]
}

/** Runs the program, in this process, with a client, of which nobody reads what it prints. */
export function runClient(code: string, options: readonly string[] = [], more: RunOptions = {}): Promise<Result> {
  return runInProcess(['run', ...options, '--', ...client(`exec >/dev/null; ${code}`)], {
    ...more,
    environment: { ...ENVIRONMENT, ...more.environment },
  })
}
