// npm start: serves with the built program. A signal to npm reaches only the shell between npm and this process, and that
// shell cannot `exec` on every system, so the end of the shell stands for the signal.
const LOOK = 200
const shell = process.ppid
setInterval(() => {
  if (process.ppid !== shell) process.kill(process.pid, 'SIGTERM')
}, LOOK).unref()
process.argv.splice(2, 0, 'serve')
await import('../dist/cli.js')
