// How long a start takes when thousands of accounts lie in the folder.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFixture } from './accounts.mjs'
import { controlRequest, OURS, serveCommand, startCandidate } from './candidates.mjs'
import { ask } from './load.mjs'
import { stopProgram } from './processes.mjs'
import { measureStart } from './starts.mjs'
import { takeTurns } from './statistics.mjs'

/** From spawn to the first answer, with no account in the folder but `default`, and with so many. */
export async function measureKept(plan, folder) {
  const candidates = [1, plan.accounts].map((accounts) => ({ accounts, data: join(folder, `kept-${accounts}`) }))
  for (const { accounts, data } of candidates) await fillFolder(data, accounts, folder)
  const results = await takeTurns(candidates, plan.keptStarts, ({ data }) =>
    measureStart({ stderr: 'ignore', commandAt: (port) => serveCommand('empty', { port, options: ['--data', data] }) }),
  )
  return results.map((result, index) => ({ accounts: candidates[index].accounts, ...result }))
}

/** One account is made by the service, and the others are copies of its file, each with an id and a key of its own. */
async function fillFolder(data, accounts, folder) {
  const { child, port } = await startCandidate(OURS, serveCommand('empty', { options: ['--data', data] }))
  if (accounts > 1) {
    const fixture = JSON.parse(
      readFileSync(writeFixture(join(folder, 'kept.json'), { domains: 10, groups: 2 }), 'utf8'),
    )
    await ask(port, controlRequest('POST', '/accounts', { id: 'kept-2', fixture }))
  }
  await stopProgram(child)
  if (accounts === 1) return
  const model = readFileSync(join(data, 'account-kept-2.json'), 'utf8')
  const [{ id, hash }] = JSON.parse(model).account.keys
  for (let account = 3; account <= accounts; account++) {
    const digest = createHash('sha256').update(`${account}`).digest('hex')
    const copy = model
      .replaceAll('"kept-2"', `"kept-${account}"`)
      .replaceAll(hash, digest)
      .replaceAll(id, `key_${digest.slice(0, 8)}`)
    writeFileSync(join(data, `account-kept-${account}.json`), copy, { mode: 0o600 })
  }
}
