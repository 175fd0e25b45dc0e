// Only reads, and gives up at the first thing that goes wrong.
import { send } from './watch.mjs'

try {
  const { domains } = await send('GET', '/domains')
  const { groups } = await send('GET', '/domaingroups')
  console.log(`${domains.length} domains in ${groups.length} groups`)
} catch (error) {
  console.error(`Nothing could be read: ${error.message}`)
  process.exitCode = 1
}
