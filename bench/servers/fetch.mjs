// Asks the service in this process by `service.fetch`, for as long as each line of standard input says, and prints how many
// answers came in how many seconds of processor time. The first line is how long the start and the first answer took.
import { createInterface } from 'node:readline'

const [, , fixture, apiKey] = process.argv
const { startUnderstudy } = await import('../../dist/index.js')
const service = await startUnderstudy({ listen: false, fixture, apiKey, enforceQuotas: false })
const headers = { authorization: `Bearer ${apiKey}` }
const ask = async (path) => (await service.fetch(new Request(service.baseUrl + path, { headers }))).arrayBuffer()
const groups = JSON.parse(Buffer.from(await ask('/domaingroups')))
console.log(JSON.stringify({ milliseconds: performance.now(), mebibytes: process.memoryUsage().rss / 2 ** 20 }))

const path = `/domaingroups?id=${groups.data.groups[100].id}`
for await (const line of createInterface({ input: process.stdin })) {
  const [before, until] = [process.cpuUsage(), performance.now() + 1000 * Number(line)]
  let answers = 0
  for (; performance.now() < until; answers++) await ask(path)
  const { user, system } = process.cpuUsage(before)
  console.log(JSON.stringify({ perCpuSecond: answers / ((user + system) / 1e6) }))
}
await service.stop()
