// The least that Node itself costs: the bytes of each answer are made at the start, and a body is read past.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [, , answersPath, port = '0'] = process.argv
const { group, created, dmarc } = JSON.parse(readFileSync(answersPath, 'utf8'))
const [groupBytes, createdBytes, dmarcBytes] = [group, created, dmarc].map((text) => Buffer.from(text))

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    request.on('end', () => answer(response, createdBytes)).resume()
  } else {
    answer(response, request.url === '/api/v1/dmarc' ? dmarcBytes : groupBytes)
  }
})
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))

function answer(response, bytes) {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
  response.end(bytes)
}
