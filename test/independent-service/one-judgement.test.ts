import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { listens } from '../cli/proxied.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { entryFrom, harOf } from '../support/recorded.ts'
import { DEPARTURES } from './departures.ts'
import { check } from './judging.ts'
import { listen } from './listener.ts'
import { BEGIN, KEY, play, Twins } from './playing.ts'
import { PLAIN } from './profile.ts'
import { usualSession } from './sessions.ts'

const departure = DEPARTURES.find(({ id }) => id === 'first-group-for-all')

interface Report {
  findings: readonly { id: string }[]
}

const idsIn = ({ findings }: Report) => findings.map(({ id }) => id).toSorted()
const reportIn = (file: string): Report => JSON.parse(readFileSync(file, 'utf8'))

describe('one judgement', () => {
  it('is the same for exchanges, for a recording of them, and on their way', async ({ folder, start }) => {
    const exchanges = play(usualSession, new Twins(PLAIN, departure))
    const judged = idsIn(await check(exchanges))
    expect(judged).not.toEqual([])

    const [har, ofRecording, onTheWay] = ['a.har', 'check.json', 'proxy.json'].map((file) => join(folder, file)) as [
      string,
      string,
      string,
    ]
    writeFileSync(har, harOf(exchanges.map((exchange) => entryFrom(exchange, `Bearer ${KEY}`))))
    await runInProcess(['check', har, '--report', `json=${ofRecording}`])
    expect(idsIn(reportIn(ofRecording)), 'check').toEqual(judged)

    const service = await listen(new Twins(PLAIN, departure), { now: () => BEGIN })
    const running = start(['proxy', '--target', service.url, '--port', '0', '--report', `json=${onTheWay}`])
    const baseUrl = await listens(running)
    for (const { request } of exchanges) {
      const { 'content-type': type } = request.headers
      const body = request.body.isKnown && request.body.bytes.length > 0 ? request.body.bytes.toString() : undefined
      const headers = { authorization: `Bearer ${KEY}`, ...(type !== undefined && { 'content-type': type }) }
      const target = new URL(request.target, baseUrl)
      await (await fetch(target, { method: request.method, headers, ...(body !== undefined && { body }) })).text()
    }
    running.stop()
    await running.ended
    await service.close()
    expect(idsIn(reportIn(onTheWay)), 'proxy').toEqual(judged)
  })
})
