// Breaks only when two things go wrong: it believes that a request was done if it cannot look.
import { DOMAINS, GROUP, isPassing, persist, send, watchDomains } from './watch.mjs'

try {
  await persist(watchDomains)
  await createGroup()
} catch (error) {
  console.error(`The domains are not watched: ${error.message}`)
  process.exitCode = 1
}

async function createGroup() {
  try {
    await send('POST', '/domaingroups', { name: GROUP, domains: DOMAINS })
  } catch (error) {
    if (!isPassing(error)) throw error
    if (!(await isThere())) await createGroup()
  }
}

async function isThere() {
  try {
    const { groups } = await send('GET', '/domaingroups')
    return groups.some(({ name }) => name === GROUP)
  } catch {
    return true
  }
}
