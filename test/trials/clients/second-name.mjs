// Takes a name that is taken for the name of somebody else, and makes a second group.
import { DOMAINS, GROUP, persist, Refused, send, watchDomains } from './watch.mjs'

try {
  await persist(watchDomains)
  await persist(() => createGroup(GROUP))
} catch (error) {
  console.error(`The domains are not watched: ${error.message}`)
  process.exitCode = 1
}

async function createGroup(name) {
  try {
    await send('POST', '/domaingroups', { name, domains: DOMAINS })
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'duplicate_name') throw error
    await createGroup(`${name} 2`)
  }
}
