// Loaded before a server (`--import`, with `--expose-gc`): at SIGUSR2 it prints how many bytes live after a collection.
process.on('SIGUSR2', () => {
  // Twice, because what the first one finalizes, such as a closed socket, only the second one frees.
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`live bytes: ${heapUsed + external}\n`)
})
