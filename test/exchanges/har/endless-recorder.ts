import { HarWriter } from '../../../src/exchanges/har/writer.ts'

/** Records exchanges without an end: small ones, and some of many pages. It tells what is in the file when it must end. */
const [, , path = '', most = '1000000'] = process.argv
const nothing = Buffer.alloc(0)
const identity = (text: string) => text
const credentials = { kind: 'none' } as const

const writer = await HarWriter.open(path, '0.1.0')
console.log('open')
for (let number = 0; number < Number(most) && writer.problem === undefined; number++) {
  const bytes = Buffer.from(`${number} `.repeat(number % 7 === 0 ? 40_000 : number % 50))
  writer.add({
    at: number,
    until: number + 1,
    url: `http://127.0.0.1/api/v1/${number}`,
    request: { method: 'GET', httpVersion: 'HTTP/1.1', fields: [], body: { bytes: nothing, size: 0 } },
    response: {
      status: 200,
      statusText: 'OK',
      httpVersion: 'HTTP/1.1',
      fields: [],
      body: { bytes, size: bytes.length },
    },
    credentials,
    redact: identity,
  })
  if (number % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 2))
}
await writer.close()
console.log(JSON.stringify({ entries: writer.entries, dropped: writer.dropped, problem: writer.problem }))
