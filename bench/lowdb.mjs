// What a stand-in that keeps its state in one file, the obvious way, costs at the least: Express, `db.data` changed in
// place, and `await db.write()` before each answer. No keys, no quotas, no checks.
import { readFileSync } from 'node:fs'
import express from 'express'
import { JSONFilePreset } from 'lowdb/node'

const [, , file, statePath] = process.argv
const db = await JSONFilePreset(file, JSON.parse(readFileSync(statePath, 'utf8')))

const app = express()
app.disable('etag')
app.disable('x-powered-by')
app.patch('/api/v1/domaingroups', express.json(), async ({ query, body }, response) => {
  const group = db.data.groups.find(({ id }) => id === query.id)
  group.name = body.name
  await db.write()
  response.json({ success: true, data: { group } })
})
const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
