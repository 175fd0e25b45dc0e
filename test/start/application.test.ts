import { createServer, type RequestListener } from 'node:http'
import { expect, it } from 'vitest'
import { contentOf } from '../../src/http/content.ts'
import { createApplication } from '../../src/start/application.ts'
import type { ServedControl } from '../../src/start/control-plane.ts'
import type { StandIn } from '../../src/start/stand-in.ts'
import { ask } from '../doors/express/application.ts'
import { listenOn } from '../support/listening.ts'
import { recordingLog } from '../support/recording-log.ts'

function bug(): never {
  throw new Error('a bug')
}

const BUGS: readonly [what: string, serve: ServedControl['serve']][] = [
  ['throws', bug],
  ['rejects', async () => bug()],
]
const DOORS: readonly [
  door: string,
  listenerOf: (application: ReturnType<typeof createApplication>) => RequestListener,
][] = [
  [
    'the port',
    ({ handle }) =>
      (request, response) =>
        void handle(request, response),
  ],
  ['the application', ({ express }) => express()],
]

it.each(BUGS.flatMap(([what, serve]) => DOORS.map(([door, listenerOf]) => ({ what, serve, door, listenerOf }))))(
  'A control plane that $what ends the connection without a page of Express, by $door',
  async ({ serve, listenerOf }) => {
    const log = recordingLog()
    const standIn: Pick<StandIn, 'answer' | 'log' | 'stopping'> = {
      answer: () => ({ status: 200, headers: [], body: contentOf(''), transmission: undefined }),
      log,
      stopping: new AbortController(),
    }
    const isBelow = ({ url = '' }) => url === '/bug'
    const application = createApplication(standIn, { serve, isBelow, owns: isBelow })
    const port = await listenOn(createServer(listenerOf(application)))
    expect(await ask(port, { target: '/bug' })).toBe('')
    expect(log.errors).toHaveLength(1)
    expect(await ask(port, { target: '/other' })).toContain('200 OK')
  },
)
