// The least that Node itself costs: the bytes of each answer are made at the start; a body is read whole and parsed.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [, , answersPath, port = '0'] = process.argv
const { group, created, dmarc } = JSON.parse(readFileSync(answersPath, 'utf8'))
const [groupBytes, createdBytes, dmarcBytes] = [group, created, dmarc].map((text) => Buffer.from(text))

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    readJson(request, () => answer(response, createdBytes))
  } else {
    answer(response, request.url === '/api/v1/dmarc' ? dmarcBytes : groupBytes)
  }
})
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))

function readJson(request, use) {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => use(JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))))
}

function answer(response, bytes) {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
  response.end(bytes)
}
