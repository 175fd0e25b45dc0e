// Asks for nothing but the domains.
import { persist, send } from './watch.mjs'

const { domains } = await persist(() => send('GET', '/domains'))
console.log(domains.join('\n'))
