import type { IncomingMessage, ServerResponse } from 'node:http'

/** The path below which the control plane lives, beside the service's own. */
export const ADMIN_PATH = '/__admin'

/** Answers what is asked of the control plane. */
export function createAdmin(): (request: IncomingMessage, response: ServerResponse) => void {
  return function serveAdmin(request, response) {
    const path = request.url?.split('?')[0]
    if (path !== `${ADMIN_PATH}/health`) {
      answer(response, 404, { success: false, error: { code: 'not_found', message: 'There is nothing at this path.' } })
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD')
      answer(response, 405, {
        success: false,
        error: { code: 'not_found', message: 'GET and HEAD are supported here.' },
      })
    } else {
      answer(response, 200, { success: true, data: { status: 'ok' } })
    }
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
  response.end(bytes)
}
