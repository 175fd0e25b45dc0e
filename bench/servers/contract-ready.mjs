// Prints how much processor time it took, with the start of the process, until `contract()` could judge the first request.
const [, , ...overlays] = process.argv
const { contract } = await import('../../dist/express.js')
await contract({ overlays, onViolation: () => {} }).ready()
const { user, system } = process.cpuUsage()
console.log(`${(user + system) / 1000} ms`)
