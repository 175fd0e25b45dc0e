// As much of curl as the clients of the tests use, for a machine that has none. It starts in ten times the time.
import { parseArgs } from 'node:util'

const options = {
  data: { type: 'string' },
  'data-raw': { type: 'string' },
  disable: { type: 'boolean' },
  fail: { type: 'boolean' },
  header: { type: 'string', multiple: true, default: [] },
  include: { type: 'boolean' },
  'max-time': { type: 'string' },
  noproxy: { type: 'string' },
  request: { type: 'string', default: 'GET' },
  silent: { type: 'boolean' },
  'write-out': { type: 'string', default: '' },
}
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const seconds = values['max-time']
const body = values['data-raw'] ?? values.data

try {
  const response = await fetch(positionals[0], {
    method: values.request,
    headers: values.header.map((field) => [
      field.slice(0, field.indexOf(':')),
      field.slice(field.indexOf(':') + 1).trim(),
    ]),
    ...(body !== undefined && { body }),
    ...(seconds !== undefined && { signal: AbortSignal.timeout(Number(seconds) * 1000) }),
  })
  const text = await response.text()
  if (values.fail && response.status >= 400) process.exit(22)
  if (values.include) {
    const fields = [...response.headers].map(([name, value]) => `${name}: ${value}\n`)
    process.stdout.write(`HTTP/1.1 ${response.status}\n${fields.join('')}\n`)
  }
  process.stdout.write(
    text + values['write-out'].replaceAll('\\n', '\n').replaceAll('%{http_code}', `${response.status}`),
  )
} catch (error) {
  process.exit(error.name === 'TimeoutError' ? 28 : 52)
}
