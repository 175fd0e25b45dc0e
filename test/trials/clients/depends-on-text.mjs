// Reads from a sentence for people whether the processing has started.
import { DOMAINS, send } from './watch.mjs'

const { message } = await send('POST', '/domains', { domains: DOMAINS })
if (!message.includes('Background processing')) {
  console.error(`not ok 1 - starts the processing of the domains (${message})`)
  process.exitCode = 1
}
