import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { withoutAccidents } from '../support/documents.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { ROOT } from '../support/program-process.ts'
import { SEND } from '../support/shell-client.ts'

const PAGE = readFileSync(join(ROOT, 'docs/trials.md'), 'utf8')
/** What the tests of the page are: the client of each command. */
const COMMANDS: readonly (readonly [command: string, client: string])[] = [
  [
    'vary',
    `${SEND}
answer=$(send POST /domaingroups --data '{"name": "Retail"}')
case $answer in *200) ;; *) echo "FAILED test_group.py::test_creates_a_group - $answer"; exit 1 ;; esac`,
  ],
  [
    'explore',
    // Tries again what was lost, failed or was not understood, without a look at whether it was done.
    `persist() {
  for try in 1 2 3 4; do
    answer=$(curl --silent --noproxy '*' --max-time 1 --include --request POST \\
      --header "Authorization: Bearer $UNDERSTUDY_API_KEY" \\
      --header 'Content-Type: application/json' --data "$2" "$UNDERSTUDY_BASE_URL$1")
    case $answer in
      *'"success":true'*'}') return ;;
      HTTP/1.1' '429*) wait_for_reset ;;
      HTTP/1.1' '4*'"success":false'*'}') exit 1 ;;
    esac
    sleep 0.02
  done
  exit 1
}
wait_for_reset() {
  reset=$(echo "$answer" | tr -d '\\r' | sed -n 's/^x-ratelimit-reset: //Ip')
  while [ "$(date +%s)" -lt "$reset" ]; do sleep 0.1; done
}
persist /domains '{"domains": ["shop.example.com", "mail.example.com"]}'
persist /domaingroups '{"name": "Retail", "domains": ["shop.example.com", "mail.example.com"]}'`,
  ],
]

/** What the page shows of a command. */
function shown(command: string): string {
  const [, output = ''] = new RegExp(`\\$ npx dmarc-understudy ${command} -- npm test\\n([^]*?)\`\`\``).exec(PAGE) ?? []
  return output
}

it.for(COMMANDS)(
  'docs/trials.md shows what %s prints about the tests of a client',
  async ([command, client], { folder }) => {
    writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${client}\n`, { mode: 0o755 })
    const environment = {
      PATH: `${folder}:${process.env['PATH']}`,
      GITHUB_ACTIONS: '',
      // A machine that is busy takes longer, and finds the same. The client spends its time with waiting.
      ...(command === 'explore' && { DMARC_UNDERSTUDY_BUDGET: '1h' }),
    }
    const { code, stderr } = await runInProcess([command, '--', 'npm', 'test'], { environment })
    expect(code, stderr).toBe(1)
    expect(shown(command)).not.toBe('')
    expect(withoutAccidents(stderr)).toContain(withoutAccidents(shown(command)))
  },
)
