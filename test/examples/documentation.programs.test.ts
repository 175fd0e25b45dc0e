import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startUnderstudy } from '../../src/server/understudy.ts'
import { type Document, readDocuments, withoutAccidents } from '../support/documents.ts'
import { it } from '../support/program.ts'
import { PROGRAM, ROOT, runShell } from '../support/program-process.ts'
import { startRedis } from '../support/redis-server.ts'

const documents = readDocuments()
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  name: string
  version: string
  scripts: object
}

/** The URL of a store in the documents. A document that has it needs a Redis. */
const STORE = 'redis://127.0.0.1:6379'
const needsStore = ({ commands }: Document) => commands.some(({ text }) => text.includes(STORE))

/** Commands for those who change the program, which CI runs, and what a test has written from answers of a server. */
const OTHERS = ['CONTRIBUTING.md']
const played = documents.filter(({ path, commands }) => commands.length > 0 && !OTHERS.includes(path))

/**
 * Commands in the place of those that a test cannot run as they are. `npm start` and `npx dmarc-understudy serve` start the
 * program on a free port, and stop it when it says that it is ready. `npm ci` and the scripts that take minutes must
 * exist; CI runs them. `npm test` is the client of a user where `run` runs it. `npm install` must name the file that `npm pack` makes; another test installs it.
 */
const COMMANDS: Readonly<Record<string, string>> = {
  npm: `
case "$1" in
  ci|pack) exit 0 ;;
  install) [ "$2" = --save-dev ] && [ "\${3##*/}" = ${manifest.name}-${manifest.version}.tgz ] && exit 0 ;;
  start) shift; [ "\${1:-}" = -- ] && shift; exec serve_once "$@" ;;
  test) [ -z "\${UNDERSTUDY_BASE_URL:-}" ] || exec test_client; exit 0 ;;
  run) case " ${Object.keys(manifest.scripts).join(' ')} " in *" $2 "*) exit 0 ;; esac ;;
esac
echo "package.json has no script for: npm $*" >&2; exit 1`,
  npx: `
[ "$1" = dmarc-understudy ] || { echo "npx runs $1, which is not this program" >&2; exit 1; }
shift
[ "\${1:-}" = serve ] && { shift; exec serve_once "$@"; }
exec "$REAL_NODE" "$PROGRAM" "$@"`,
  // The tests of a client that has a mistake which they do not see.
  test_client: `
ask() { "$REAL_CURL" -s -o answer.json "$UNDERSTUDY_BASE_URL$@" -H "Authorization: Bearer $UNDERSTUDY_API_KEY"; }
ask /domains
ask /domains -H 'Content-Type: application/json' -d '{"domain": "shop.example"}'
exit 0`,
  node: `[ -f "$ROOT/$1" ] || { echo "there is no file $1" >&2; exit 1; }`,
  serve_once: `
"$REAL_NODE" "$PROGRAM" serve "$@" --port 0 --log-level silent >greeting.txt &
trap 'kill -9 $! 2>/dev/null' EXIT
until grep -q 'is ready' greeting.txt; do kill -0 $! || exit 1; done
kill -TERM $!; wait $!; cat greeting.txt`,
  // Starts as the document says, but on a socket of its own; the servers of the document use that of the test.
  'redis-server': `
"$REAL_REDIS_SERVER" "$@" --port 0 --unixsocket ./document.sock >redis.txt 2>&1 &
until grep -q 'accept connections at' redis.txt; do kill -0 $! 2>/dev/null || { cat redis.txt; exit 1; }; sleep 0.02; done
kill -KILL $!; exit 0`,
  'redis-cli': `exec "$REAL_REDIS_CLI" -u "$REDIS_URL" "$@"`,
  curl: `
case " $* " in
  *' -N '*) "$REAL_CURL" -s --max-time 1 "$@"; [ $? = 28 ] ;;
  *) exec "$REAL_CURL" -s "$@" ;;
esac`,
}

/** A folder for the commands of a document, with the stand-ins for some of them in front of PATH. */
async function environmentIn(folder: string): Promise<Record<string, string>> {
  for (const [name, script] of Object.entries(COMMANDS)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  const { stdout } = await runShell('command -v curl; command -v redis-server; command -v redis-cli')
  const [curl, server, client] = stdout.split('\n')
  const PATH = `${folder}:${process.env['PATH']}`
  // Annotations of GitHub Actions are in no document.
  const GITHUB_ACTIONS = ''
  const programs = {
    REAL_NODE: process.execPath,
    REAL_CURL: `${curl}`,
    REAL_REDIS_SERVER: `${server}`,
    REAL_REDIS_CLI: `${client}`,
  }
  return { PATH, PROGRAM, ROOT, ...programs, GITHUB_ACTIONS }
}

/** Runs the commands in one shell, one after the other; of each its exit code and what it printed. */
async function runAll(
  { commands }: Document,
  folder: string,
  origin: string,
  store: string,
): Promise<{ code: number; output: string }[]> {
  const script = commands.map(
    ({ text }) =>
      `${text.replaceAll('http://127.0.0.1:4010', origin).replaceAll(STORE, store)}\nprintf '\\n@@%s@@\\n' $?`,
  )
  writeFileSync(join(folder, 'commands.sh'), ['exec 2>&1', ...script].join('\n'))
  const { stdout, stderr } = await runShell('. ./commands.sh', {
    folder,
    environment: { ...(await environmentIn(folder)), REDIS_URL: store },
  })
  const results = [...stdout.matchAll(/([\s\S]*?)\n@@(\d+)@@\n/g)]
  expect(results, stdout + stderr).toHaveLength(commands.length)
  return results.map(([, output = '', code]) => ({ code: Number(code), output }))
}

describe('the documentation', () => {
  it.for(played)(
    'has commands that work one after the other as they stand: $path',
    async (document, { folder, onTestFinished }) => {
      const service = await startUnderstudy({ enforceQuotas: false })
      onTestFinished(() => service.stop())
      const store = needsStore(document) ? (await startRedis()).url : STORE
      const results = await runAll(document, folder, new URL(service.baseUrl).origin, store)
      for (const [index, { text, refused, prints, exits = 0 }] of document.commands.entries()) {
        const { code, output } = results[index] ?? { code: 1, output: '' }
        expect({ text, code, output: output.slice(0, 500) }).toMatchObject({ code: exits })
        if (prints !== undefined) expect(withoutAccidents(output)).toContain(withoutAccidents(prints.trim()))
        if (!/^curl (?!.*(-N |\|))/.test(text)) continue
        const body = JSON.parse(output) as { success: boolean; error?: { code: string } }
        expect({ text, refused: body.error?.code }).toEqual({ text, refused })
      }
    },
  )

  it('streams events as it says', async ({ serve }) => {
    const { apiKey, origin, request } = await serve()
    const command = `curl -s -N ${origin}/__admin/accounts/default/events | grep -m 1 '^event: '`
    const shown = runShell(command, { environment: { API_KEY: apiKey } })
    let done = false
    void shown.then(() => {
      done = true
    })
    while (!done) await request('/domains')
    expect((await shown).stdout).toBe('event: request\n')
  })
})
