import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Express, NextFunction, Request } from 'express'
import { ADMIN_PATH } from '../admin/paths.ts'
import { ServerArrival } from '../exchanges/server-arrival.ts'
import { loadModule } from '../ground/files.ts'
import type { Arrival } from '../ground/message.ts'
import { breakOff, createCarrier } from './carrier.ts'
import type { RequestHandler } from './http-server.ts'
import { BodyReadBefore, isReadBefore } from './middleware.ts'
import type { StandIn } from './stand-in.ts'

/** The control plane, and the requests that it answers in place of the service. */
export interface ControlService {
  serve: RequestHandler
  owns(request: Pick<Arrival, 'method' | 'url' | 'headers'>): boolean
}

/** A stand-in as an application of Express, and the way past it. */
export interface Application {
  /** Loads Express at the first call. */
  express(): Express
  /**
   * Answers a request of the port with the same bytes. Only what belongs to the control plane goes through Express: its
   * router takes more time than the service does, and cannot read every target that a client may send.
   */
  handle: RequestHandler
}

/** Composes service and control plane. `control` is absent if it is not served. */
export function createApplication(
  { answer, log, stopping }: Pick<StandIn, 'answer' | 'log' | 'stopping'>,
  control: ControlService | undefined,
): Application {
  const serve = createCarrier({ answer, stopping: stopping.signal, log })
  const answerForService: RequestHandler = (request, response) => serve(new ServerArrival(request), request, response)
  let application: Express | undefined
  /** What the last request through Express still does, because Express does not tell. */
  let handling: Promise<void> | undefined

  function express(): Express {
    application ??= compose()
    return application
  }

  /** Every other path than those of the control plane is the service's to refuse. */
  function compose(): Express {
    // At once and not by `import`, so that `service.app` is an application and not the promise of one.
    const app = (loadModule('express') as typeof import('express'))()
    app.disable('x-powered-by')
    app.disable('etag')
    app.use((request, _response, next) =>
      next(isReadBefore(request) ? new BodyReadBefore(request, 'service.app') : undefined),
    )
    if (control !== undefined) {
      app.use((request, response, next) => {
        if (!control.owns(request)) return next()
        handling = control.serve(request, response)
        return handling
      })
    }
    app.use(answerForService)
    app.use(giveUp)
    return app
  }

  function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (control?.owns(request) !== true) return answerForService(request, response)
    express()(request, response)
    return handling?.catch(() => {}) ?? Promise.resolve()
  }

  /**
   * The outer application tells its own mistake. A bug affects no other request. Express knows this function by its four
   * parameters, and would send its own page.
   */
  function giveUp(err: unknown, _request: Request, response: ServerResponse, next: NextFunction): void {
    if (err instanceof BodyReadBefore) next(err)
    else {
      log.error({ err }, 'The response could not be sent.')
      breakOff(response)
    }
  }

  return { express, handle }
}

/** The control plane of a stand-in, which its first request loads. `host` is the address that clients name. */
export function serveControl(
  { control, opened, instance, log, stopping, urls, namesUs }: StandIn,
  host: string,
  token: string | undefined,
): ControlService {
  const { readiness } = opened
  let loading: Promise<RequestHandler> | undefined
  return {
    async serve(request, response) {
      loading ??= import('../admin/router.ts').then(({ createAdmin }) =>
        createAdmin({
          ...{ control, token, host, instance, log, readiness, stopping: stopping.signal, urls: () => urls },
        }),
      )
      return (await loading)(request, response)
    },
    owns: (request) => isBelowAdmin(request) || (isRoot(request) && namesUs(request)),
  }
}

function isBelowAdmin({ url = '' }: Pick<Arrival, 'url'>): boolean {
  return url.startsWith(ADMIN_PATH) && /^(?:[/?]|$)/.test(url.slice(ADMIN_PATH.length, ADMIN_PATH.length + 1))
}

/** Whether it is a request for the root of the server, which the service does not know. */
function isRoot({ method, url = '' }: Pick<Arrival, 'method' | 'url'>): boolean {
  return (url === '/' || url.startsWith('/?')) && (method === 'GET' || method === 'HEAD')
}
