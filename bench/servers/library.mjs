// Starts and stops the service in this process, again and again, and prints how many milliseconds each start took.
import { startUnderstudy } from '../../dist/index.js'

const [, , starts] = process.argv
const milliseconds = []
for (let start = 0; start < Number(starts); start++) {
  const began = performance.now()
  const service = await startUnderstudy()
  milliseconds.push(performance.now() - began)
  await service.stop()
}
console.log(JSON.stringify(milliseconds))
