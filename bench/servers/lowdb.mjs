// What a service that keeps its state in one file with lowdb is at first: each write changes the state in memory and
// awaits `db.write()`, which writes all of it, before it answers. No keys, no quotas, no checks beside the body's JSON.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { JSONFilePreset } from 'lowdb/node'

const [, , path, statePath] = process.argv
const db = await JSONFilePreset(path, JSON.parse(readFileSync(statePath, 'utf8')))
await db.write()
const groups = new Map(db.data.groups.map((group) => [group.id, group]))

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const group = groups.get(new URL(request.url, 'http://localhost').searchParams.get('id'))
  group.name = JSON.parse(Buffer.concat(chunks)).name
  await db.write()
  const bytes = Buffer.from(JSON.stringify({ success: true, data: { group } }))
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
  response.end(bytes)
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
