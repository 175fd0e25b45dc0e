import { ADMIN_PATH } from '../admin/paths.ts'
import { assumptionsOf } from '../contract/assumptions.ts'
import { followReferences, readDocument } from '../contract/document.ts'
import { readOverlays } from '../contract/overlay.ts'
import type { Json } from '../ground/json.ts'
import { reportAssumption } from '../judge/observability.ts'
import type { CallId } from '../library/control-client.ts'
import { type AddressWords, RemoteClient } from '../library/remote-client.ts'
import { controlToolsOf } from './control-tools.ts'
import { ownToolsOf } from './own-tools.ts'
import type { AssistantTool } from './tool.ts'

/** The stand-in that the tools are about. */
export interface ToolTarget {
  adminUrl: string
  token: string | undefined
  /** The key of the `default` account, if it is known. */
  apiKey: string | undefined
  /** The overlays of its contract; `undefined` if another program has started it. */
  overlays: readonly string[] | undefined
}

const COMMON = { server: 'The stand-in', token: 'Give it with --admin-token.' }
const VERSION = 'the server and dmarc-understudy mcp need the same version'
const OF_OWN: AddressWords = {
  ...COMMON,
  silence: 'it has stopped, so start dmarc-understudy mcp again',
  address: 'another program has taken its port, so start dmarc-understudy mcp again',
  version: VERSION,
}
const OF_ATTACHED: AddressWords = {
  ...COMMON,
  silence: 'it has stopped, or the address of --attach is wrong; start it again, or attach to another one',
  address: '--attach needs the address of a control plane, such as http://127.0.0.1:4010/__admin',
  version: VERSION,
}
const UNKNOWN_OVERLAYS =
  'They are those of openapi.yaml; overlays of the server that was started elsewhere are not known.'

/** The tools for a running stand-in. @throws ControlError if there is no control plane at the address */
export async function connectTools({ adminUrl, token, apiKey, overlays }: ToolTarget): Promise<AssistantTool[]> {
  const url = completeAdminUrl(adminUrl)
  const words = overlays === undefined ? OF_ATTACHED : OF_OWN
  const client = await RemoteClient.connect({ url, token, words }, new AbortController().signal)
  const ask = (id: string, request: object) => client.call(id as CallId, request)
  const surroundings = {
    ...{ ask, adminUrl: url, apiKey },
    baseUrl: await client.findBaseUrl(),
    assumptions: () => listAssumptions(overlays ?? []),
    caveat: overlays === undefined ? UNKNOWN_OVERLAYS : undefined,
  }
  return [...ownToolsOf(surroundings), ...controlToolsOf(followReferences(client.document) as Json, ask)]
}

/** The address of the server, or of its dashboard, means that of its control plane. */
function completeAdminUrl(written: string): string {
  const url = written.replace(/\/+$/, '')
  return new URL(url).pathname === '/' ? url + ADMIN_PATH : url
}

async function listAssumptions(overlays: readonly string[]) {
  const { source, extensions } = await readDocument({ overlays: await readOverlays(overlays) })
  return assumptionsOf(source, extensions).map(reportAssumption)
}
