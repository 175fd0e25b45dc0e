import { assumptionsOf } from '../contract/assumptions.ts'
import { readSource } from '../contract/document.ts'
import { readOverlays } from '../contract/overlay.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { type Json, valueAt } from '../ground/json.ts'
import { quoteWord, show } from '../ground/show.ts'
import { reportAssumption } from '../judge/observability.ts'
import { refuseArgument } from '../library/control-error.ts'
import { EXTENT, writeAnswer } from './answer.ts'
import type { ControlPlane } from './control-plane.ts'
import type { Tool } from './tools.ts'

/** What the tools know besides the control plane. */
export interface ToolTerms {
  /** The key of the `default` account, if it is known. */
  apiKey: string | undefined
  /** The overlays of its contract; `undefined` if another program has started the server. */
  overlays: readonly string[] | undefined
}

const ACCOUNT = { type: 'string', description: 'Id of the account.' }

/** The tools that no operation of the control plane gives. */
export function ownToolsOf(plane: ControlPlane, { apiKey, overlays }: ToolTerms): Tool[] {
  const caveat = overlays === undefined ? ' Overlays of the attached server are not known.' : ''
  return [
    readingTool(
      'get_address',
      'Get the addresses and a key',
      'The base URL that the client under test needs, an API key for it, the addresses of the control plane and of the page, and a curl line to try. The key is null where only its hash is kept; create_account and create_key show theirs once.',
      { account: ACCOUNT },
      async ({ account = 'default' }) => {
        const found = await plane.call('getAccount', { parameters: { account } })
        const key = valueAt(found, '/api_key') ?? (account === 'default' ? apiKey : undefined) ?? null
        const header = key === null ? '"Authorization: Bearer $API_KEY"' : quoteWord(`Authorization: Bearer ${key}`)
        return {
          ...{ account, base_url: plane.baseUrl, api_key: key, admin_url: plane.url, dashboard: `${plane.url}/` },
          curl: `curl -H ${header} ${plane.baseUrl}/domains`,
        }
      },
    ),
    readingTool(
      'list_coverage_gaps',
      'List what the requests have not shown of the contract',
      'The responses, rules and edges of limits that no request has shown yet, of an account with curl commands that show them. Responses of faults and simulations do not count.',
      {
        account: { ...ACCOUNT, description: 'Id of the account; all accounts without it.' },
        operation: { type: 'string', description: 'Only gaps of this operationId of the service.' },
      },
      async ({ account, operation }) => {
        const coverage = (
          account === undefined
            ? await plane.call('getOverallCoverage', {})
            : await plane.call('getCoverage', { parameters: { account } })
        ) as Coverage
        const gaps = gapsIn(coverage).filter((gap) => operation === undefined || gap['operation'] === operation)
        return { summary: coverage.summary, count: gaps.length, gaps }
      },
    ),
    readingTool(
      'list_assumptions',
      'List what the specification leaves open',
      `The points that the specification leaves open, with what the stand-in chooses there and the other choices of a real service. A client must not depend on a choice.${caveat}`,
      { id: { type: 'string', description: 'Only the assumption with this id, in full.' } },
      async ({ id }) => {
        const source = await readSource(await readOverlays(overlays ?? []))
        const all = assumptionsOf(source).map(reportAssumption)
        if (id === undefined) return { assumptions: all.map(({ id, spec, choice }) => ({ id, spec, choice })) }
        const found = all.find((each) => each.id === id)
        if (found !== undefined) return found
        const ids = all.map((each) => each.id)
        const nearest = nearestName(`${id}`, ids)
        const remedy = nearest === undefined ? 'list_assumptions without an id lists them' : `did you mean ${nearest}?`
        throw refuseArgument('id', `id must be the id of an assumption, not ${show(id)}; ${remedy}`)
      },
    ),
  ]
}

function readingTool(
  name: string,
  title: string,
  description: string,
  properties: Json,
  read: (args: Json) => Promise<unknown>,
): Tool {
  const inputSchema = { type: 'object', properties: { ...properties, ...EXTENT }, required: [] } as const
  return {
    ...{ name, title, description, inputSchema },
    annotations: { readOnlyHint: true, openWorldHint: false },
    async call(args) {
      return writeAnswer(await read(args), args)
    },
  }
}

interface Coverage {
  summary: Json
  operations: readonly { operation: string; responses: readonly Json[] }[]
  outside: readonly Json[]
  rules: readonly Json[]
  edges: readonly Json[]
}

/** The parts that were not shown. */
function gapsIn({ operations, outside, rules, edges }: Coverage): Json[] {
  const as =
    (kind: string, more: Json = {}) =>
    (part: Json) => ({ kind, ...more, ...part })
  const parts: Json[] = [
    ...operations.flatMap(({ operation, responses }) => responses.map(as('response', { operation }))),
    ...[...outside.map(as('response')), ...rules.map(as('rule')), ...edges.map(as('edge'))],
  ]
  return parts
    .filter(({ seen, genuine }) => seen === false || genuine === 0)
    .map(({ seen: _, genuine: __, injected: ___, ...gap }) => gap)
}
