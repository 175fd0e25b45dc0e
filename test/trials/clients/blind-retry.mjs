// Sends a request again without a look at whether the first one was done.
import { DOMAINS, GROUP, persist, send } from './watch.mjs'

try {
  await persist(() => send('POST', '/domains', { domains: DOMAINS }))
  await persist(() => send('POST', '/domaingroups', { name: GROUP, domains: DOMAINS }))
} catch (error) {
  console.error(`The domains are not watched: ${error.message}`)
  process.exitCode = 1
}
