import { createServer } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import type { KeptFinding } from '../../src/judge/finding.ts'
import { startProxy } from '../../src/proxy/proxy.ts'
import { isOwnAddress, targetAt } from '../../src/proxy/target.ts'
import { listenOn } from '../support/listening.ts'
import { NO_JUDGE } from '../verify/runs.ts'

/** A finding that does not count, which the verdict shows nevertheless. */
const ACCEPTED: KeptFinding = {
  id: 'unexplained/listDomains/200/data',
  label: 'unexplained',
  count: 3,
  ...{ method: 'GET', path: '/domains', message: 'It is other than it should be.' },
}

it('passes traffic on when the judge fails, and its verdict is not that it passed', async () => {
  const port = await listenOn(createServer((_, response) => response.end('done')))
  const errors = vi.fn()
  const judge = {
    judged: 0,
    take({ id }: { id: string }) {
      if (id === 'request 2') throw new Error('a bug')
      judge.judged++
      return []
    },
    forget: () => {},
    conclude: () => ({ ...NO_JUDGE.conclude(), exchanges: 2, judged: 1, findings: [ACCEPTED] }),
  }
  const proxy = await startProxy({
    ...{ judge, host: '127.0.0.1', port: 0, admin: true, adminToken: undefined },
    target: targetAt(`http://127.0.0.1:${port}`, '/api/v1'),
    contract: await loadContract({ overlays: [] }),
    log: { info: () => {}, warn: () => {}, error: errors },
    ...{ counts: () => false, found: () => {}, said: () => {} },
  })
  onTestFinished(() => proxy.stop())
  const verdict = async () => ((await (await fetch(`${proxy.adminUrl}/verdict`)).json()) as { data: object }).data
  for (const passed of [true, false]) {
    expect(await (await fetch(`${proxy.baseUrl}/domains`)).text()).toBe('done')
    expect(await verdict()).toMatchObject({ passed })
  }
  expect(await verdict()).toMatchObject({
    judged: 1,
    message: expect.stringContaining('1 of 2 exchanges was not judged, because this program has made a mistake.'),
    service: { findings: 3, exchanges: 2, not_judged: 1 },
  })
  expect(errors).toHaveBeenCalledTimes(1)
})

it.each<[target: string, host: string]>([
  ['http://192.0.2.1:4999', '0.0.0.0'],
  ['http://127.0.0.2:4999', '127.0.0.1'],
  ['http://127.0.0.1:5000', '127.0.0.1'],
])('%s is another service than a proxy on port 4999 of %s', async (target, host) => {
  expect(await isOwnAddress(targetAt(target, '/api/v1'), host, 4999)).toBe(false)
})
