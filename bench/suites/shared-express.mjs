// The same tests with one bare server of Express for all of them.
import express from 'express'
import { afterAll, beforeAll, test } from 'vitest'
import { measureTests, useGroup } from './group-tests.mjs'

const groups = new Map()
const app = express()
app.post('/domaingroups', express.json(), ({ body }, response) => {
  const group = { id: `${groups.size}`, name: body.name, domains: [] }
  groups.set(group.id, group)
  response.json({ success: true, data: { group } })
})
app.get('/domaingroups', ({ query }, response) =>
  response.json({ success: true, data: { group: groups.get(query.id) } }),
)

let server
beforeAll(() => new Promise((resolve) => (server = app.listen(0, '127.0.0.1', resolve))))
afterAll(() => server.close())
measureTests('Express', (name) => test(name, () => useGroup(`http://127.0.0.1:${server.address().port}`, {})))
