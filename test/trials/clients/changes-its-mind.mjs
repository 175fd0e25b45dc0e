// Sends other requests each time it runs.
import { send } from './watch.mjs'

await send('POST', '/domains', { domains: [`host-${Date.now().toString(36)}-${process.pid}.example.com`] })
