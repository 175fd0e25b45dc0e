// Loaded before a server (`--import`): at SIGUSR2 it prints the longest turn of the event loop since the last time.
// A turn takes no more than its processor time: the rest is that of other processes of the machine.
const NEVER = { milliseconds: 0, wall: 0 }
let longest = NEVER
let began = performance.now()
let spent = processorTime()

// A timer is due in each turn that takes more than a millisecond.
setInterval(() => {
  const now = performance.now()
  const used = processorTime()
  const milliseconds = Math.min(now - began, used - spent)
  if (milliseconds > longest.milliseconds) longest = { milliseconds, wall: now - began }
  began = now
  spent = used
}, 1).unref()

process.on('SIGUSR2', () => {
  const { milliseconds, wall } = longest
  longest = NEVER
  process.stdout.write(`longest turn: ${milliseconds} of ${wall} ms\n`)
})

/** Milliseconds of all threads, because those that collect garbage do so for the turn. */
function processorTime() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
