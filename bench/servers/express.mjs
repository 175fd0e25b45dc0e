// What any service written with Express costs at the least: a route for each request, `express.json()` where there is
// a body, and `res.json` of an object that is at hand. No keys, no quotas, no checks, no state.
import { readFileSync } from 'node:fs'
import express from 'express'

const [, , answersPath, port = '0'] = process.argv
const answers = JSON.parse(readFileSync(answersPath, 'utf8'))
const group = JSON.parse(answers.group)
const dmarc = withoutWholePercentages(JSON.parse(answers.dmarc))

const app = express()
// As in the service under test, so that neither is measured with work that the other does not do.
app.disable('etag')
app.disable('x-powered-by')
app.get('/api/v1/domaingroups', (_request, response) => response.json(group))
app.get('/api/v1/dmarc', (_request, response) => response.json(dmarc))
app.post('/api/v1/domaingroups', express.json(), answerGroup)
app.patch('/api/v1/domaingroups', express.json(), answerGroup)
const server = app.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))

function answerGroup({ body }, response) {
  const { id } = group.data.group
  response.json({ success: true, data: { group: { id, name: body.name, domains: body.domains } } })
}

/** `res.json` writes 100.0 as 100; another last digit makes the body as long as the one it stands for. */
function withoutWholePercentages({ data, ...envelope }) {
  const raise = (percentage) => (Number.isInteger(percentage) ? percentage + 0.1 : percentage)
  const records = data.map((record) => ({
    ...record,
    dmarc: raise(record.dmarc),
    dkim: raise(record.dkim),
    spf: raise(record.spf),
  }))
  return { ...envelope, data: records }
}
