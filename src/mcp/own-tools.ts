import { nearestName } from '../ground/edit-distance.ts'
import type { Json } from '../ground/json.ts'
import { quoteWord } from '../ground/shell-word.ts'
import { show } from '../ground/show.ts'
import { refuseArgument } from '../library/control-error.ts'
import { writeAnswer } from './answer.ts'
import { EXTENT_PROPERTIES, readExtent, readNumber, readScalar } from './arguments.ts'
import type { AskOperation } from './control-tools.ts'
import { writePage } from './page.ts'
import { type AssistantTool, READS } from './tool.ts'

/** What the tools know besides the control plane. */
export interface ToolSurroundings {
  ask: AskOperation
  baseUrl: string
  adminUrl: string
  /** The key of the `default` account, if it is known. */
  apiKey: string | undefined
  /** What the contract leaves open, as the command `assumptions` lists it. */
  assumptions(): Promise<readonly (Json & { id: string })[]>
  /** What the list of assumptions does not know, as a sentence. */
  caveat: string | undefined
}

const ACCOUNT = { type: 'string', description: 'Id of the account.' }
/** How many entries a list has without a limit, and at most. */
const ENTRIES = { usual: 10, most: 200 }
const PAGE: Json = {
  limit: { type: 'integer', minimum: 1, description: `How many are listed; ${ENTRIES.usual} by default.` },
  after: { type: 'integer', minimum: 0, description: 'The `next` of the page before.' },
}

/** The tools that no operation of the control plane gives. */
export function ownToolsOf(surroundings: ToolSurroundings): AssistantTool[] {
  return [addressTool(surroundings), gapsTool(surroundings), assumptionsTool(surroundings)]
}

function readingTool(
  { name, title, description }: Pick<AssistantTool, 'name' | 'title' | 'description'>,
  properties: Json,
  read: (args: Json) => Promise<Json>,
): AssistantTool {
  const isList = 'limit' in properties
  return {
    ...{ name, title, description },
    inputSchema: { type: 'object', properties: { ...properties, ...EXTENT_PROPERTIES }, additionalProperties: false },
    annotations: READS,
    async call(args) {
      const extent = readExtent(args)
      if (!isList || args['id'] !== undefined) return writeAnswer(await read(args), extent, { again: {} })
      const limit = String(readNumber(args, 'limit', [1, ENTRIES.usual, ENTRIES.most]))
      return writePage((size) => read({ ...args, limit: Number(size) }), { limit, isGiven: 'limit' in args }, extent)
    },
  }
}

function addressTool({ ask, baseUrl, adminUrl, apiKey }: ToolSurroundings): AssistantTool {
  const words = {
    name: 'get_address',
    title: 'Get the addresses and a key',
    description:
      'The base URL that the client under test needs, an API key for it, the address of the control plane and of the dashboard, and a curl line to try. The key is null where only its hash is kept; create_account and create_key show theirs once.',
  }
  const account = { ...ACCOUNT, description: 'Id of the account whose key is wanted; `default` without it.' }
  return readingTool(words, { account }, async (args) => {
    const id = args['account'] === undefined ? 'default' : readScalar('account', args['account'])
    const found = (await ask('getAccount', { parameters: { account: id } })) as { api_key: string | null }
    const key = found.api_key ?? (id === 'default' ? apiKey : undefined) ?? null
    const authorization = key === null ? '"Authorization: Bearer $API_KEY"' : quoteWord(`Authorization: Bearer ${key}`)
    return {
      ...{ account: id, base_url: baseUrl, api_key: key, admin_url: adminUrl, dashboard: `${adminUrl}/` },
      curl: `curl -H ${authorization} ${baseUrl}/domains`,
    }
  })
}

const KINDS = ['response', 'rule', 'edge'] as const

function gapsTool({ ask }: ToolSurroundings): AssistantTool {
  const words = {
    name: 'list_coverage_gaps',
    title: 'List what the requests have not shown of the contract',
    description:
      'The responses, rules and edges of limits that no request has shown yet, with `account` each with curl commands that show it, or with those of an accepted request and a hint. `summary` says how much was shown. Responses of faults and simulations do not count.',
  }
  const properties = {
    account: { ...ACCOUNT, description: 'Id of the account; all accounts without it.' },
    kind: { type: 'string', enum: KINDS, description: 'Only gaps of this kind.' },
    operation: { type: 'string', description: 'Only gaps of this operationId of the service.' },
    ...PAGE,
  }
  return readingTool(words, properties, async (args) => {
    const { account, kind, operation } = args
    if (kind !== undefined && !KINDS.some((each) => each === kind)) {
      throw refuseArgument('/kind', `/kind must be one of ${KINDS.join(', ')}, not ${show(kind)}.`)
    }
    const coverage = (await (account === undefined
      ? ask('getOverallCoverage', {})
      : ask('getCoverage', { parameters: { account: readScalar('account', account) } }))) as CoverageData
    const operations = coverage.operations.map((each) => each.operation)
    if (operation !== undefined && !operations.some((each) => each === operation)) {
      const nearest = nearestName(String(operation), operations)
      const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
      throw refuseArgument(
        '/operation',
        `/operation must be one of ${operations.join(', ')}, not ${show(operation)}.${hint}`,
      )
    }
    const gaps = gapsIn(coverage).filter(
      (gap) =>
        (kind === undefined || gap['kind'] === kind) && (operation === undefined || gap['operation'] === operation),
    )
    return { summary: coverage.summary, ...pageOf('gaps', gaps, args) }
  })
}

interface CoverageData {
  summary: Json
  operations: readonly { operation: string; responses: readonly Json[] }[]
  outside: readonly Json[]
  rules: readonly Json[]
  edges: readonly Json[]
}

/** The parts that were not shown. */
function gapsIn({ operations, outside, rules, edges }: CoverageData): Json[] {
  const parts: Json[] = [
    ...operations.flatMap(({ operation, responses }) =>
      responses.map((each) => ({ kind: 'response', operation, ...each })),
    ),
    ...outside.map((each) => ({ kind: 'response', ...each })),
    ...rules.map((each) => ({ kind: 'rule', ...each })),
    ...edges.map((each) => ({ kind: 'edge', ...each })),
  ]
  return parts
    .filter(({ seen, genuine }) => seen === false || genuine === 0)
    .map(({ seen: _, genuine: __, injected: ___, ...gap }) => gap)
}

function assumptionsTool({ assumptions, caveat }: ToolSurroundings): AssistantTool {
  const words = {
    name: 'list_assumptions',
    title: 'List what the specification leaves open',
    description: [
      'The points that the specification leaves open, with what the stand-in chooses there and the other choices of a real service. A client must not depend on a choice.',
      ...(caveat === undefined ? [] : [caveat]),
    ].join(' '),
  }
  const properties = { id: { type: 'string', description: 'Only the assumption with this id, in full.' }, ...PAGE }
  return readingTool(words, properties, async (args) => {
    const all = await assumptions()
    const { id } = args
    if (id === undefined) {
      const brief = all.map(({ id, spec, choice, alternatives }) => ({ id, spec, choice, alternatives }))
      return pageOf('assumptions', brief, args)
    }
    const found = all.find((each) => each.id === id)
    if (found !== undefined) return found
    const nearest = nearestName(
      String(id),
      all.map((each) => each.id),
    )
    const remedy = nearest === undefined ? 'list_assumptions without an id lists them' : `did you mean ${nearest}?`
    throw refuseArgument('/id', `/id must be the id of an assumption, not ${show(id)}; ${remedy}`)
  })
}

/** A page, which begins after so many entries. */
function pageOf(name: string, all: readonly unknown[], args: Json): Json {
  const after = readNumber(args, 'after', [0, 0, Number.MAX_SAFE_INTEGER])
  const end = after + Number(args['limit'])
  return { [name]: all.slice(after, end), count: all.length, next: end < all.length ? end : null }
}
