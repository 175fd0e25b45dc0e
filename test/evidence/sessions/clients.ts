import { BEHAVIOURS, type Behaviour } from '../../contract/behaviours.ts'
import { monitoring } from '../../contract/service-requests.ts'
import type { TestService } from '../../support/service.ts'
import type { Client } from './recording.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
/** Of so many names, some have a policy. */
const several = (start: string) => Array.from({ length: 12 }, (_, index) => `${start}${index}.example`)

const add = (service: TestService, ...domains: string[]) => service.send('POST', '/domains', { domains })
const drop = (service: TestService, ...domains: string[]) => service.send('DELETE', '/domains', { domains })

/** Whether a domain or a name is one of a client's own, of which nobody else knows. */
export function isOwnName(name: string): boolean {
  return name.startsWith('own-')
}

/**
 * Who looks at a service from outside knows less than a test: not in which order things were added before, and not which
 * domains are in use. These clients bring about what they have to know. All other assumptions show in the requests that
 * show them to a test.
 */
const CLIENTS: Readonly<Record<string, Client>> = {
  'domain-order': { ask: (service) => addOutOfOrder(service, '/domains') },
  'record-order': { ask: (service) => addOutOfOrder(service, '/dmarc') },
  'group-order': {
    async ask(service) {
      for (const name of ['b', 'C', 'a']) await service.send('POST', '/domaingroups', { name })
      await service.get('/domaingroups')
    },
  },
  'already-monitored': {
    options: monitoring('a.example'),
    ask: async (service) => {
      await add(service, 'a.example')
      await add(service, 'a.example', 'b.example')
    },
  },
  'unmonitored-deletion': {
    options: monitoring('a.example'),
    ask: async (service) => {
      await drop(service, 'b.example')
      await drop(service, 'a.example', 'b.example')
    },
  },
  'deletion-of-members': {
    async ask(service) {
      await add(service, 'own-a.example', 'own-b.example')
      await service.send('POST', '/domaingroups', { name: 'own-group', domains: ['own-a.example'] })
      await drop(service, 'own-b.example')
      await drop(service, 'own-a.example')
    },
  },
  'domain-cap': afterRefusedKey('domain-cap'),
  'group-cap': afterRefusedKey('group-cap'),
  'member-cap': afterRefusedKey('member-cap'),
  // A service that reads no Content-Type would do the same.
  'request-charset': {
    async ask(service) {
      await service.send('POST', '/domaingroups', '{"name":"Typed"}', { 'content-type': 'text/plain' })
      await behaviourOf('request-charset').observe(service)
    },
  },
  'public-suffixes': {
    async ask(service) {
      for (const name of ['co.uk', 'com.br', 'b.co.uk', 'b.example']) await add(service, name)
    },
  },
  'policy-before-refresh': {
    async ask(service) {
      await add(service, ...several('b'))
      await service.get('/dmarc')
    },
  },
  'processing-time': {
    async ask(service) {
      await add(service, ...several('b'))
      // The clock stands at half past ten; then it is half a minute to midnight.
      service.advance(13.5 * HOUR - MINUTE / 2)
      await add(service, ...several('c'))
      for (let day = 0; day < 4; day++) {
        service.advance(day === 0 ? MINUTE : 24 * HOUR)
        await service.get('/dmarc')
      }
    },
  },
  'status-large-header': {
    ask: async (service) => {
      await service.send('GET', '/domains', undefined, { x: 'x'.repeat(65_536) })
      await service.send('POST', '/domains', ' '.repeat(1_048_577))
    },
  },
  'unprocessed-domains': {
    async ask(service) {
      await add(service, 'b.example')
      await service.get('/dmarc')
      service.advance(48 * HOUR)
      await service.get('/dmarc')
    },
  },
}

async function addOutOfOrder(service: TestService, path: string): Promise<void> {
  for (const name of ['b.example', 'c.example', 'a.example']) await add(service, name)
  await service.get(path)
}

/** What exceeds a plan is refused like a key that was switched off, unless its status is another one. */
function afterRefusedKey(id: string): Client {
  const { options, observe } = behaviourOf(id)
  return {
    options,
    async ask(service) {
      await service.send('GET', '/domains', undefined, { authorization: null })
      await observe(service)
    },
  }
}

/** A client whose requests show how a service has chosen. */
export function clientFor(id: string): Client {
  const client = Object.hasOwn(CLIENTS, id) ? CLIENTS[id] : undefined
  if (client !== undefined) return client
  const { options, observe } = behaviourOf(id)
  return { options, ask: observe }
}

function behaviourOf(id: string): Behaviour {
  const behaviour = BEHAVIOURS.find((each) => each.id === id)
  if (behaviour === undefined) throw new Error(`Nothing says what shows of ${id}.`)
  return behaviour
}
