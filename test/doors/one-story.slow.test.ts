import type { Express } from 'express'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { standIn } from '../../src/express.ts'
import { type ServerOptions, startUnderstudy } from '../../src/index.ts'
import { spawnProgram } from '../support/program-process.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { startPatient } from '../support/replicas.ts'
import { type RunningProgram, ready } from '../support/running-program.ts'
import { fetchDoor, socketDoor, tellReference } from '../support/story-doors.ts'
import { type Door, REQUESTS, STORY_ARGUMENTS, STORY_OPTIONS, tellStory } from '../support/told-story.ts'
import { EXPRESSES, serve } from './express/application.ts'

/** The story as the port of a server in this process tells it. */
let reference: string[]

async function startService(options: ServerOptions = {}) {
  const service = await startUnderstudy({ ...STORY_OPTIONS, ...options })
  onTestFinished(() => service.stop())
  return { service, places: { baseUrl: service.baseUrl, adminUrl: service.adminUrl ?? '' } }
}

/** The service below a path of an application; the control plane is that of the stand-in. */
async function openMount(app: Express): Promise<Door> {
  const { service, places } = await startService({ listen: false })
  app.use('/below', standIn(service))
  const origin = `http://127.0.0.1:${await serve(app)}`
  const mounted = socketDoor({ baseUrls: [`${origin}/below/api/v1`], adminUrl: places.adminUrl })
  return { ...fetchDoor(service.fetch, places), call: mounted.call }
}

async function openProgram(program: RunningProgram): Promise<Door> {
  onTestFinished(async () => {
    program.stop()
    await program.ended
  })
  const { baseUrl, origin } = await ready(program)
  return socketDoor({ baseUrls: [baseUrl], adminUrl: `${origin}/__admin` })
}

/** Each opens a door, which ends with the test. */
const DOORS: Record<string, { open(): Promise<Door>; isAbsent?: boolean }> = {
  'its port by another client': {
    async open() {
      const { places } = await startService()
      return fetchDoor(fetch, places)
    },
  },
  '`service.fetch` beside a port': {
    async open() {
      const { service, places } = await startService()
      return fetchDoor(service.fetch, places)
    },
  },
  '`service.fetch` without a port': {
    async open() {
      const { service, places } = await startService({ listen: false })
      return fetchDoor(service.fetch, places)
    },
  },
  ...Object.fromEntries(
    EXPRESSES.map(([name, express]) => [`a part of an application of ${name}`, { open: () => openMount(express()) }]),
  ),
  'the package as a process': {
    open: () => openProgram(spawnProgram(['serve', '--port', '0', '--log-level', 'silent', ...STORY_ARGUMENTS])),
  },
  'two servers on one Redis': {
    isAbsent: !HAS_REDIS,
    async open() {
      const shared = { ...STORY_OPTIONS, store: (await sharedRedis()).url, storePrefix: freshPrefix() }
      // The server that starts first counts the requests without an account from one.
      const one = await startPatient(shared)
      const other = await startPatient(shared)
      onTestFinished(async () => void (await Promise.all([one.stop(), other.stop()])))
      return socketDoor({ baseUrls: [one.baseUrl, other.baseUrl], adminUrl: other.adminUrl ?? '' })
    },
  },
}

describe('One story of sixty requests, faults, a verdict and an export has the same bytes', () => {
  beforeAll(async () => {
    reference = await tellReference()
  })

  it('which are many: each kind of answer is among them', () => {
    expect(REQUESTS).toBe(60)
    const statuses = reference.map((paragraph) => paragraph.split('\n')[1])
    expect([...new Set(statuses)].toSorted()).toEqual([
      '0',
      '200',
      '201',
      '400',
      '401',
      '404',
      '405',
      '409',
      '413',
      '429',
      '503',
    ])
    expect(reference.filter((paragraph) => paragraph.includes('\nlost: '))).toHaveLength(3)
  })

  for (const [name, { open, isAbsent = false }] of Object.entries(DOORS)) {
    it.skipIf(isAbsent)(`through ${name}`, async () => {
      const told = await tellStory(await open())
      expect(told).toEqual(reference)
    })
  }
})
