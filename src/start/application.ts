import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'
import { loadModule } from '../ground/package-files.ts'
import { createCarrier } from '../http/engine/carrier.ts'
import { ServerArrival } from '../http/engine/server-arrival.ts'
import type { ServedControl } from './control-plane.ts'
import type { StandIn } from './stand-in.ts'

/** A stand-in as an application of Express, and the way past it. */
export interface Application {
  /** Loads Express at the first call. */
  express(): Express
  /**
   * Answers a request of the port with the same bytes. Only what is not below the base path goes through Express,
   * because its router takes more time than the service does.
   */
  handle(request: IncomingMessage, response: ServerResponse): void | Promise<void>
}

/** Composes service and control plane. `control` is absent if it is not served. */
export function createApplication(
  { answer, contract: { basePath }, log, stopping }: StandIn,
  control: ServedControl | undefined,
): Application {
  const serve = createCarrier({ answer, stopping: stopping.signal, log })
  let application: Express | undefined

  function answerForService(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    return serve(new ServerArrival(request), request, response)
  }

  function express(): Express {
    application ??= compose()
    return application
  }

  /** Neither handler throws or rejects. Every other path than those of the control plane is the service's to refuse. */
  function compose(): Express {
    // At once and not by `import`, so that `service.app` is an application and not the promise of one.
    const app = (loadModule('express') as typeof import('express'))()
    app.disable('x-powered-by')
    app.disable('etag')
    if (control !== undefined) {
      app.use((request, response, next) => (control.owns(request) ? control.serve(request, response) : next()))
    }
    app.use(answerForService)
    return app
  }

  function handle(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const { url = '' } = request
    // Express would read a target that is no path as one.
    if (url.startsWith(basePath) || url[0] !== '/') return answerForService(request, response)
    express()(request, response)
    return undefined
  }

  return { express, handle }
}
