import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nameInLog } from '../../../src/journal/redaction/key-shapes.ts'
import type { ServerOptions } from '../../../src/server/options.ts'
import { startUnderstudy } from '../../../src/server/server.ts'
import { askControl } from '../../support/control-plane.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SOUND = 'sandbox_sound'
const DAMAGED = 'sandbox_damaged'
const as = (sandbox: string) => ({ authorization: `Bearer ${sandbox}` })

function optionsFor(folder: string, more: ServerOptions = {}): ServerOptions {
  return { data: folder, store: undefined, skipDamaged: true, ...more }
}

/** A folder with a `default` account and two sandboxes, each of which has a domain. */
async function filledFolder(): Promise<string> {
  const folder = temporaryFolder()
  const service = await startService(optionsFor(folder))
  for (const sandbox of [SOUND, DAMAGED]) {
    const added = await service.send('POST', '/domains', { domains: ['kept.example'] }, as(sandbox))
    expect(added.status).toBe(200)
  }
  await service.stop()
  return folder
}

const pathIn = (folder: string, id: string) => join(folder, `account-${id}.json`)

describe('with `skipDamaged`', () => {
  const NAME = '"name":"kept.example"'
  it.each<[how: string, damage: (content: string) => string, reason: string]>([
    ['is empty', () => '', 'is empty'],
    ['means nothing', (text) => text.replace(NAME, '"name":"NOT A DOMAIN"'), expect.stringContaining('NOT A DOMAIN')],
  ])('an account whose file %s is left out with one warning, and the others work', async (_, damage, reason) => {
    const folder = await filledFolder()
    const path = pathIn(folder, DAMAGED)
    const sound = readFileSync(path, 'utf8')
    const content = damage(sound)
    expect(content).not.toBe(sound)
    writeFileSync(path, content)
    const log = recordingLog()
    const service = await startService(optionsFor(folder, { log }))
    // The id of a sandbox is a key, which the log does not show.
    const shown = path.replace(DAMAGED, nameInLog(DAMAGED))
    const [{ reason: said }] = log.warnings as [{ reason: string }]
    expect([log.warnings.length, said.slice(0, shown.length + 2)]).toEqual([1, `${shown}: `])
    expect(said.slice(shown.length + 2)).toEqual(reason)
    const others = await service.send('POST', '/domains', { domains: ['more.example'] }, as(SOUND))
    expect(others.status).toBe(200)
    // Neither its key nor its id opens another account in its place.
    const refused = await service.send('GET', '/domains', undefined, as(DAMAGED))
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } })
    const created = await askControl(service, 'POST', '/accounts', { id: DAMAGED })
    expect(created.status).toBe(409)
    expect(created.error).toMatchObject({ code: 'taken', message: expect.stringContaining(path) })
    expect((await askControl(service, 'GET', `/accounts/${DAMAGED}`)).status).toBe(404)
    await service.stop()
    expect(readFileSync(path, 'utf8')).toBe(content)

    writeFileSync(path, sound)
    const mended = await startService(optionsFor(folder))
    const kept = await mended.send('GET', '/domains', undefined, as(DAMAGED))
    expect(kept.body.data.domains).toEqual(['kept.example'])
  })

  it('gives an account that asks for no id another one than that of a damaged account', async () => {
    const folder = await filledFolder()
    writeFileSync(pathIn(folder, 'account-1'), '')
    await using service = await startUnderstudy({ data: folder, skipDamaged: true })
    expect(service.skipped).toEqual([`${pathIn(folder, 'account-1')}: is empty`])
    expect((await service.createAccount()).id).toBe('account-2')
  })

  it('leaves out an account that has a key of another', async () => {
    const folder = await filledFolder()
    const content = readFileSync(pathIn(folder, SOUND), 'utf8')
    const copy = pathIn(folder, 'zz')
    writeFileSync(copy, content.replace(`"id":"${SOUND}"`, '"id":"zz"'))
    await using service = await startUnderstudy({ data: folder, skipDamaged: true })
    expect(service.skipped).toEqual([`${copy}: /account/keys/0 belongs to the account "${SOUND}" too`])
  })

  it('does not start without the account `default`, and warns of nothing', async () => {
    const folder = await filledFolder()
    for (const id of ['default', DAMAGED]) writeFileSync(pathIn(folder, id), '')
    const log = recordingLog()
    await expect(startUnderstudy({ data: folder, skipDamaged: true, log })).rejects.toMatchObject({
      problem: 'damaged',
      message: `${pathIn(folder, 'default')}: is empty; correct the file, or move it away`,
    })
    expect(log.warnings).toEqual([])
    expect(readdirSync(folder)).not.toContain('.lock')
    expect(readFileSync(pathIn(folder, 'default'), 'utf8')).toBe('')
  })

  it('does not start when the number of the last generated id is damaged, and does not call that an account', async () => {
    const folder = await filledFolder()
    const file = join(folder, '.last-id.json')
    writeFileSync(file, '')
    await expect(startUnderstudy({ data: folder, skipDamaged: true })).rejects.toMatchObject({
      message: `${file}: is empty; correct the file, or move it away`,
    })
  })
})
