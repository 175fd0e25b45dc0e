import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { sample } from '../support/budget.ts'
import { expectRefusal, it } from '../support/program.ts'
import { startInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { ENVIRONMENT, LAWFUL, runClient, VIOLATING } from './run-client.ts'

describe.concurrent('run', () => {
  it('succeeds with a client that keeps the contract, and says what was covered', async () => {
    const { code, stderr } = await runClient(LAWFUL)
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(/^Requests +2, 2 checked against the contract$/m)
    expect(stderr).toMatch(/^Covered +[\d.]+ % of the responses \(2 of \d+\), 2 of 8 operations$/m)
    expect(stderr).toContain('PASSED  The command succeeded. It sent 2 requests; none of them violates the contract.')
  })

  it('keeps the server on demand, and names the address of each violation, also in the variables of the command', async ({
    folder,
  }) => {
    const file = join(folder, 'run.json')
    const client = `eval "$CLIENT"; exec >/dev/null; ${VIOLATING}; test "$UNDERSTUDY_KEPT" = true`
    const program = startInProcess(['run', '--keep', '--report', `json=${file}`, '--', 'sh', '-c', client], {
      environment: ENVIRONMENT,
    })
    await expect.poll(program.stderr, { timeout: 20_000 }).toContain('the server stays until you stop the program')
    const [page = ''] = /http:\S+\/accounts\/default\/requests\/[0-9a-f-]{36}/.exec(program.stderr()) ?? []
    expect((await fetch(page, { headers: { accept: 'text/html' } })).status).toBe(200)
    const written = JSON.parse(readFileSync(file, 'utf8'))
    expectReport('run', written)
    expect(written.verdict.violations.first[0].page).toBe(page)
    program.stop()
    expect((await program.ended).code).toBe(1)
    expect(program.stderr()).toContain('FAILED  The command succeeded.')
    await expect(fetch(page)).rejects.toThrow()
  })

  it('does not keep the server if the program is told to stop while the command runs', async ({ folder }) => {
    const begun = join(folder, 'begun')
    const program = startInProcess(['run', '--keep', '--', 'sh', '-c', `echo > ${begun}; exec sleep 60`], {
      environment: ENVIRONMENT,
    })
    await expect.poll(() => existsSync(begun), { timeout: 20_000 }).toBe(true)
    program.stop()
    await program.ended
    expect(program.stderr()).not.toContain('the server stays')
  })

  it('fails with one that violates it, says where, why, and what would be right, and shows no secret', async ({
    folder,
  }) => {
    const secrets = ['--api-key', 'k_very_secret', '--admin-token', 't_very_secret']
    const files = ['json', 'html'].map((format) => join(folder, `run.${format}`))
    const reports = files.flatMap((file) => ['--report', `${file.split('.').at(-1)}=${file}`])
    const client = `${LAWFUL}; ${VIOLATING}; ask GET /domains/$UNDERSTUDY_API_KEY; ask GET /dmarc; ask GET /dmarc; ask GET /dmarc`
    const { code, stderr } = await runClient(client, [...secrets, ...reports])
    expect(code).toBe(1)
    expect(stderr).toMatch(/POST \/api\/v1\/domains → 400 unknown_field {2}openapi\.yaml:\d+ {2}request [0-9a-f-]{36}/)
    expect(stderr).toContain('The field `domain` is not supported.')
    // The server is gone, and so are its addresses.
    expect(stderr).not.toContain('/requests/')
    expect(stderr).toMatch(/^See more +with --keep, the server stays/m)
    expect(stderr).toMatch(/curl .*"\$UNDERSTUDY_BASE_URL"\/domains --data-raw '\{"domains":\["new\.example"\]\}'/)
    expect(stderr).toMatch(/^FAILED {2}The command succeeded\. It sent 7 requests; 2 of them violate the contract\.$/m)
    // The first impolite request, and the others.
    expect(stderr).toMatch(/^ {2}GET \/api\/v1\/dmarc → 200 {2}request [0-9a-f-]{36}$/m)
    expect(stderr).toMatch(/was read again twice .* Also: GET \/api\/v1\/dmarc, request [0-9a-f-]{36}\.$/m)
    const written = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
    expectReport('run', written)
    expect(written).toEqual({
      command: ['sh', '-c', expect.any(String)],
      exit_code: 1,
      seconds: expect.any(Number),
      verdict: expect.objectContaining({ passed: false, requests: 7, judged: 7, injected: 0 }),
      coverage: expect.objectContaining({ summary: expect.any(Object), operations: expect.any(Array) }),
    })
    for (const text of [stderr, ...files.map((file) => readFileSync(file, 'utf8'))]) {
      expect(text).not.toMatch(/k_very_secret|t_very_secret/)
    }
  })

  it.for(
    sample<[what: string, code: string, hint: string]>(
      [
        ['no request', '', 'UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY and UNDERSTUDY_ADMIN_URL'],
        [
          'requests with a wrong key only',
          "ask GET /domains '' other",
          'Does the client send the key in UNDERSTUDY_API_KEY',
        ],
      ],
      1,
    ),
  )('fails with %s, and says what the client may have missed', async ([, source, hint]) => {
    const { code, stderr } = await runClient(source)
    expect(code).toBe(1)
    expect(stderr).toContain(hint)
    expect(stderr).toContain('--set-env API_URL={baseUrl} --set-env API_KEY={apiKey}')
  })
})

describe.concurrent('run that is used wrongly', () => {
  it('says that it cannot tell the key of an account that was made with another one', async ({ folder }) => {
    expect((await runClient(LAWFUL, ['--data', folder, '--api-key', 'k_mine'])).code).toBe(0)
    const message = `--data ${folder}: only the hash of the key is kept, so the command cannot be given the key of the account; give --api-key`
    await expectRefusal(['run', '--data', folder, '--', 'true'], 2, message)
    expect((await runClient(LAWFUL, ['--data', folder, '--api-key', 'k_mine'])).code).toBe(0)
  })

  it('leaves no ready file and no lock behind', async ({ folder }) => {
    const options = ['--data', join(folder, 'data'), '--ready-file', join(folder, 'ready.json')]
    await expectRefusal(['run', ...options, '--', 'no-such-command'], 127, 'no-such-command: there is no such command')
    expect(readdirSync(folder)).toEqual(['data'])
    expect(existsSync(join(folder, 'data', '.lock'))).toBe(false)
  })
})
