import { ADMIN_PATH } from '../admin/paths.ts'
import { followReferences } from '../contract/document.ts'
import type { Json } from '../ground/json.ts'
import type { CallArguments } from '../library/arguments.ts'
import { type CallId, ControlClient } from '../library/control-client.ts'
import { HttpTransport } from '../library/http-transport.ts'

/** The control plane of a running server. */
export interface ControlPlane {
  url: string
  /** Its document, without references. */
  document: Json
  /** The base URL of the service. */
  baseUrl: string
  /** Resolves to the data of the answer. @throws ControlError with what would be right */
  call(operationId: string, args: CallArguments): Promise<unknown>
}

const WORDS = {
  server: 'The server',
  silence: 'it has stopped, or the address is wrong; start it again, or attach to another one',
  address: `an address is such as http://127.0.0.1:4010${ADMIN_PATH}`,
  token: 'Give it with --admin-token.',
}

/** @throws ControlError if there is no control plane at the address */
export async function connect(address: string, token: string | undefined): Promise<ControlPlane> {
  const { pathname, origin } = new URL(address)
  // The address of the server, or of its page, means that of its control plane.
  const url = pathname === '/' ? origin + ADMIN_PATH : address.replace(/\/+$/, '')
  const transport = await HttpTransport.connect({ url, token, words: WORDS }, new AbortController().signal)
  const client = new ControlClient(transport)
  return {
    url,
    document: followReferences(transport.document) as Json,
    baseUrl: await transport.findBaseUrl(),
    call: (operationId, args) => client.call(operationId as CallId, args),
  }
}
