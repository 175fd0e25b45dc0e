// What the command proxy adds to a request: the same requests, in turns directly and through it, in one run. It judges
// all of them meanwhile. Needs a build: npm run build; then node bench/proxy.mjs [--requests 2000] [--domains 200]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '2000' }, pause: { type: 'string', default: '0' } },
})
const PROGRAM = new URL('../dist/cli.js', import.meta.url).pathname
const KEY = 'key_Bench001.000000000000000000000000000000000000000000000000'
const BODY = JSON.stringify({ name: 'bench' })

/** Starts a command and resolves to its base URL. */
async function start(...args) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += chunk
    const found = /Base URL {3}(\S+)[\s\S]*Try it/.exec(printed)
    if (found !== null) return { child, baseUrl: found[1] }
  }
  throw new Error(printed)
}

function ask(agent, url, method, body) {
  const headers = { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks)))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const service = await start('serve', '--port', '0', '--api-key', KEY, '--no-quotas', '--log-level', 'silent')
const proxy = await start('proxy', '--port', '0', '--target', service.baseUrl)
const ways = [
  { name: 'directly', baseUrl: service.baseUrl },
  { name: 'through the proxy', baseUrl: proxy.baseUrl },
].map((way) => ({ ...way, agent: new Agent({ keepAlive: true, maxSockets: 1 }), times: new Map() }))

const made = []
const kinds = {
  'GET /domains': (way) => ask(way.agent, `${way.baseUrl}/domains`, 'GET'),
  'GET /dmarc': (way) => ask(way.agent, `${way.baseUrl}/dmarc`, 'GET'),
  'GET /domaingroups': (way) => ask(way.agent, `${way.baseUrl}/domaingroups`, 'GET'),
  'POST /domaingroups': async (way) => {
    made.push(JSON.parse(await ask(way.agent, `${way.baseUrl}/domaingroups`, 'POST', BODY)).data.group.id)
  },
  'DELETE /domaingroups': (way) => ask(way.agent, `${way.baseUrl}/domaingroups?id=${made.pop()}`, 'DELETE'),
}

const rounds = Math.ceil(Number(values.requests) / Object.keys(kinds).length)
for (let round = -20; round < rounds; round++) {
  // Whoever is second finds warmer caches, so they take turns at that, too.
  for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
    for (const [kind, send] of Object.entries(kinds)) {
      const began = performance.now()
      await send(way)
      const took = performance.now() - began
      if (round >= 0) way.times.set(kind, [...(way.times.get(kind) ?? []), took])
      if (Number(values.pause) > 0) await new Promise((resolve) => setTimeout(resolve, Number(values.pause)))
    }
  }
}

const quantile = (times, share) => times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? 0
const rows = [...Object.keys(kinds), 'all'].map((kind) => {
  const [direct, through] = ways.map(({ times }) =>
    kind === 'all' ? [...times.values()].flat() : (times.get(kind) ?? []),
  )
  const at = (times, share) => quantile(times, share).toFixed(2)
  const added = (quantile(through, 0.5) - quantile(direct, 0.5)).toFixed(2)
  return {
    kind,
    'direct p50': at(direct, 0.5),
    'proxied p50': at(through, 0.5),
    'added p50': added,
    'direct p99': at(direct, 0.99),
    'proxied p99': at(through, 0.99),
  }
})
console.table(rows)
for (const { agent } of ways) agent.destroy()
for (const { child } of [proxy, service]) {
  child.kill('SIGINT')
  await once(child, 'exit')
}
