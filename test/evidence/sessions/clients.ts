import { BEHAVIOURS } from '../../contract/behaviours.ts'
import { monitoring } from '../../contract/service-requests.ts'
import type { TestService } from '../../support/service.ts'
import type { Client } from './recording.ts'

const HOUR = 3_600_000
const SEVERAL = Array.from({ length: 12 }, (_, index) => `several-${index}.example`)

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
  'public-suffixes': {
    async ask(service) {
      for (const name of ['co.uk', 'com.br', 'b.co.uk', 'b.example']) await add(service, name)
    },
  },
  'policy-before-refresh': {
    async ask(service) {
      await add(service, ...SEVERAL)
      await service.get('/dmarc')
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

/** A client whose requests show how a service has chosen. */
export function clientFor(id: string): Client {
  const client = Object.hasOwn(CLIENTS, id) ? CLIENTS[id] : undefined
  if (client !== undefined) return client
  const behaviour = BEHAVIOURS.find((each) => each.id === id)
  if (behaviour === undefined) throw new Error(`Nothing says what shows of ${id}.`)
  return { options: behaviour.options, ask: behaviour.observe }
}
