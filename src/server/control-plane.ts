import { createAdmin } from '../admin/admin.ts'
import { ADMIN_PATH } from '../admin/paths.ts'
import type { Arrival } from '../ground/arrival.ts'
import type { ControlService } from './fetch/fetch.ts'
import type { StandIn } from './stand-in.ts'

/** The control plane as doors serve it. */
export interface ServedControl extends ControlService {
  /** Whether the path of a request is one of its own. */
  isBelow(request: Pick<Arrival, 'url'>): boolean
}

/** Serves the control plane of a stand-in. `host` is the address that clients name. */
export function serveControl(
  { control, opened, instance, log, stopping, urls, namesUs }: StandIn,
  host: string,
  token: string | undefined,
): ServedControl {
  const { readiness } = opened
  const isBelow = ({ url = '' }: Pick<Arrival, 'url'>) => isControlTarget(url)
  return {
    serve: createAdmin({
      ...{ control, token, host, instance, log, readiness, stopping: stopping.signal, urls: () => urls },
    }),
    isBelow,
    owns: (request) => isBelow(request) || (isRoot(request) && namesUs(request)),
  }
}

function isControlTarget(url: string): boolean {
  return (
    url.startsWith(ADMIN_PATH) && (url.length === ADMIN_PATH.length || '/?'.includes(url.charAt(ADMIN_PATH.length)))
  )
}

/** Whether it is a request for the root of the server, which the service does not know. */
function isRoot({ method, url = '' }: Pick<Arrival, 'method' | 'url'>): boolean {
  return (url === '/' || url.startsWith('/?')) && (method === 'GET' || method === 'HEAD')
}
