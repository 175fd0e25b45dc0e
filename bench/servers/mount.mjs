// The service as a part of an Express application.
import express from 'express'

const [, , fixture, apiKey, port] = process.argv
const [{ startUnderstudy }, { standIn }] = await Promise.all([
  import('../../dist/index.js'),
  import('../../dist/express.js'),
])
const service = await startUnderstudy({ listen: false, fixture, apiKey, enforceQuotas: false })
const app = express()
app.use(standIn(service))
const server = app.listen(Number(port), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`)
})
