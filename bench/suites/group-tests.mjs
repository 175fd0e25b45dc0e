// What the tests of both suites do, and what they cost from the end of the first ones to the end of the last one.
import { appendFileSync } from 'node:fs'
import { env } from 'node:process'
import { afterAll, expect, test } from 'vitest'

/** Tests that are not counted: a new process is slower, whatever it does. */
const WARM_UP = 50

/** Declares the tests with `declare`, and adds what one of them costs to the file that the environment names. */
export function measureTests(suite, declare) {
  const count = Number(env.BENCH_TESTS)
  for (let index = 0; index < WARM_UP; index++) declare(`warms up ${index}`)
  let before
  test('begins', () => {
    before = now()
  })
  for (let index = 0; index < count; index++) declare(`makes a group and reads it, ${index}`)
  afterAll(() => {
    const after = now()
    const [milliseconds, cpuMilliseconds] = after.map((value, index) => (value - before[index]) / count)
    appendFileSync(env.BENCH_SUITES, `${JSON.stringify({ suite, milliseconds, cpuMilliseconds })}\n`)
  })
}

export async function useGroup(baseUrl, headers) {
  const body = JSON.stringify({ name: 'Customers' })
  const created = await fetch(`${baseUrl}/domaingroups`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const { group } = (await created.json()).data
  const read = await fetch(`${baseUrl}/domaingroups?id=${group.id}`, { headers })
  expect((await read.json()).data.group.name).toBe('Customers')
}

function now() {
  const { user, system } = process.cpuUsage()
  return [performance.now(), (user + system) / 1000]
}
