// Starts and stops the service in this process, again and again, and prints how many milliseconds that took.
import { startUnderstudy } from '../../dist/index.js'

async function start(use) {
  const began = performance.now()
  const service = await startUnderstudy()
  const started = performance.now()
  await use?.(service)
  const answered = performance.now()
  await service.stop()
  return [started - began, answered - started]
}

const [first, answer] = await start(async ({ baseUrl, apiKey }) => {
  const headers = { authorization: `Bearer ${apiKey}` }
  await (await fetch(`${baseUrl}/domains`, { headers })).text()
})
const later = []
for (let index = 0; index < 11; index++) later.push((await start())[0])
later.sort((one, other) => one - other)
console.log(JSON.stringify({ 'first start': first, 'its first answer': answer, 'a later start': later[5] }))
