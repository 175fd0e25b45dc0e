import { maxHeaderSize } from 'node:http'
import { loadControlApi, readLimits } from '../../src/admin/document.ts'
import { BACKLOG, TOTAL } from '../../src/admin/event-feed.ts'
import { HEARTBEAT, PATIENCE as MISSED } from '../../src/admin/event-stream.ts'
import { TRIES } from '../../src/choices/constraint-network.ts'
import { SWITCHES } from '../../src/cli/beside.ts'
import { USUAL_BUDGET } from '../../src/cli/explore.ts'
import { LARGEST_PLAN } from '../../src/cli/plan-file.ts'
import { JUDGING_PATIENCE, OPTIONS as PROXY_OPTIONS } from '../../src/cli/proxy.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { LIMITS } from '../../src/domain/limits.ts'
import { LARGEST_BASELINE } from '../../src/evidence/baseline.ts'
import { LARGEST_DEPENDENCIES } from '../../src/evidence/dependencies.ts'
import { EVIDENCE_LIMITS } from '../../src/evidence/evidence-schema.ts'
import { BODY_LIMIT } from '../../src/exchanges/collected-body.ts'
import { LARGEST_BODY } from '../../src/exchanges/har/entry.ts'
import { ENTRY_LIMITS } from '../../src/exchanges/har/entry-scanner.ts'
import { MOST_EXCHANGES } from '../../src/exchanges/har/reader.ts'
import { WRITER_LIMITS } from '../../src/exchanges/har/writer.ts'
import { MOST_KEYS } from '../../src/exchanges/keys.ts'
import { LISTED_CHANGES, LISTED_MEMBERS } from '../../src/explain/changes.ts'
import { NAMED } from '../../src/figures/overview.ts'
import { valueAt } from '../../src/ground/json.ts'
import { STOP_PATIENCE, TIMEOUTS } from '../../src/http/engine/http-server.ts'
import { JOURNAL_LIMITS } from '../../src/journal/journal.ts'
import { EXAMPLES } from '../../src/journal/verdict.ts'
import { PATIENCE as WAIT } from '../../src/library/account-requests.ts'
import { WAITING } from '../../src/library/request-feed.ts'
import { CONNECT_PATIENCE, HEADER_LIMIT, PIPELINE_LIMIT } from '../../src/proxy/connection.ts'
import { DECODED_LIMIT } from '../../src/proxy/decoding.ts'
import { IDLE } from '../../src/proxy/relay.ts'
import { JUDGING_LIMITS } from '../../src/proxy/witness.ts'
import { DEADLINE, FIRST_CONNECTING, LARGE_DEADLINE } from '../../src/redis/connection.ts'
import { readLibrary } from '../../src/redis/library.ts'
import { LEASE } from '../../src/redis/membership.ts'
import { WAITING as UNSENT } from '../../src/redis/outbox.ts'
import { PATIENCE as ROUNDUP } from '../../src/redis/roundup.ts'
import { LOADING } from '../../src/redis/server-check.ts'
import { MAX_ATTEMPTS } from '../../src/redis/updates.ts'
import { BOUNDS } from '../../src/reports/bounds.ts'
import { ANNOTATIONS, LARGEST_SUMMARY } from '../../src/reports/github.ts'
import { LONGEST_COMMENT } from '../../src/reports/markdown.ts'
import { SUMMARISED } from '../../src/reports/summary.ts'
import { SEARCHED } from '../../src/start/default-account.ts'
import { OF_HEAP, OF_JOURNAL, OF_MACHINE } from '../../src/start/memory.ts'
import { LIBRARY_OPTIONS } from '../../src/start/option-table.ts'
import { LONGEST_SOCKET, LONGEST_URL } from '../../src/start/store-url.ts'
import { LARGEST_FILE } from '../../src/store/folder/account-file.ts'
import { OF_SANDBOXES } from '../../src/store/memory-budget.ts'
import { SILENCE } from '../../src/trials/beside/conductor.ts'
import { CONSIDERED } from '../../src/trials/beside/search.ts'
import { FACTOR, PATIENCE as PATIENCE_OF_EXPLORE, SPARE } from '../../src/trials/explore/session.ts'
import { KEPT as KEPT_REQUESTS } from '../../src/trials/explore/tried-plans.ts'
import { CHARACTERS, LINES } from '../../src/trials/output-tail.ts'
import { EXCHANGES } from '../../src/trials/trial.ts'
import { MORE_PATIENCE } from '../../src/trials/vary/judge.ts'
import { PATIENCE as PATIENCE_OF_VARY } from '../../src/trials/vary/vary.ts'
import { FRUITLESS_WINDOWS } from '../../src/verify/asking.ts'
import { LARGEST_RESPONSE, LARGEST_RESPONSE_HEADER } from '../../src/verify/client.ts'
import { LARGEST_KEPT, LARGEST_LEDGER } from '../../src/verify/ledger.ts'

const { settings } = await loadContract({ overlays: [] })
const control = await loadControlApi()
const limits = readLimits(control)
/** A number that the functions of the store on Redis have by this name. */
const inLibrary = (name: string) => Number(new RegExp(`^local ${name} = (\\d+)$`, 'm').exec(readLibrary().text)?.[1])
const schema = (pointer: string) => Number(valueAt(control.document.source, `/components/schemas/${pointer}`))
const day = (instant: number) => new Date(instant).toISOString().slice(0, 10)

/** The page with the value that each of its limits has in the code. It is a mistake if one is in only one of both. */
export function writeLimits(page: string): string {
  const missing = new Set(
    Object.entries(VALUES).flatMap(([title, rows]) => Object.keys(rows).map((row) => title + row)),
  )
  let section = ''
  const lines = page.split('\n').map((line) => {
    if (line.startsWith('## ')) section = line.slice('## '.length)
    const [, limit = '', former, rest] = /^\| (.+?) \| (.+?) (\|.*)$/.exec(line) ?? []
    if (former === undefined || former === 'value') return line
    const value = VALUES[section]?.[limit]
    missing.delete(section + limit)
    if (value === undefined) throw new Error(`The code has no limit "${limit}" of the section "${section}".`)
    return `| ${limit} | ${value} ${rest}`
  })
  if (missing.size > 0) throw new Error(`The page has no limit "${[...missing].join('", "')}".`)
  return lines.join('\n')
}

/** Other words of the page that depend on limits. */
export const MENTIONED = [
  `ended, and repeated with ${MORE_PATIENCE} times as much`,
  `repeated with at least ${PATIENCE_OF_EXPLORE / 1000} s, and is a hang`,
]

/** By section of the page, the value of each limit. */
const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Requests and connections': {
    'body of a request to the service (overlay `body-limit`)': bytes(settings.bodyLimit),
    'header of a request (`NODE_OPTIONS=--max-http-header-size`)': bytes(maxHeaderSize),
    'time for a header, and for a whole request': `${seconds(TIMEOUTS.headersTimeout)}, ${seconds(TIMEOUTS.requestTimeout)}`,
    'time between two requests of a connection': seconds(TIMEOUTS.keepAliveTimeout),
    'connections (`--max-connections`)': number(LIBRARY_OPTIONS.maxConnections.default),
    'time for requests that are under way at a stop': seconds(STOP_PATIENCE),
  },
  'Accounts and memory': {
    'accounts (`--max-accounts`)': number(LIBRARY_OPTIONS.maxAccounts.default),
    'time in which a changed sandbox makes no room (`--sandbox-idle`)': String(LIBRARY_OPTIONS.sandboxIdle.default),
    'memory for accounts, snapshots and journal (`--max-memory`)': `${percent(OF_HEAP)} of the heap of Node.js, at most ${percent(OF_MACHINE)} of the memory of the machine`,
    'of this, the memory of all sandboxes': percent(OF_SANDBOXES),
    'keys, fault rules, snapshots of an account': `${number(LIMITS.keys)}, ${number(LIMITS.faults)}, ${number(LIMITS.snapshots)}`,
    'domains, groups and members (overlays `domain-cap`, `group-cap`, `member-cap`)': 'what its memory permits',
    'scenes of an account': `${number(LIMITS.scenes)}, with ${number(LIMITS.calls)} calls each, and ${bytes(LIMITS.scenesBytes)} in all; bodies of ${number(LIMITS.sceneDepth)} levels`,
    'earlier fixed values of a domain': number(LIMITS.formerPins),
    'file of an account in a data folder': bytes(LARGEST_FILE),
  },
  Values: {
    'instants: of clocks, of what was added or created, and of periods (`--now`)': `${day(LIMITS.firstInstant)} to ${day(LIMITS.lastInstant)}, in UTC`,
    'messages in a record, and of a domain in an ordinary month': `${number(LIMITS.messages)}, ${number(LIMITS.volume)}`,
    'groups that an account has ever created': number(LIMITS.groupsCreated),
    'seed (`--seed`)': number(LIMITS.seed),
    'requests that a fault rule lets pass, or acts on': number(LIMITS.matches),
    'features of a domain, and characters of one': `${number(LIMITS.features)}, ${number(LIMITS.feature)}`,
    'characters of a key, its label, its id': `${number(LIMITS.key)}, ${number(LIMITS.label)}, ${number(LIMITS.keyId)}`,
    'characters of the id of an account, of the name of a snapshot': number(LIMITS.accountId),
    'title and description of a fixture, title and text of a scene': `${number(LIMITS.title)}, ${number(LIMITS.description)}, ${number(LIMITS.sceneTitle)} and ${number(LIMITS.sceneText)} characters`,
    'size of a value for which the coverage shows a request': number(LIMITS.sample),
    'requests of a quota, and by how much a new key has more': `${number(LIMITS.quota)}, ${number(LIMITS.grace)} times`,
    'window, grace period, processing time': `${number(LIMITS.period)} s`,
    'caps of domains, groups and members': number(LIMITS.cap),
    'body limit of the service': bytes(LIMITS.body),
    'days of which a record counts the mail': number(LIMITS.days),
    'plans, and characters of the name of one': `${number(LIMITS.plans)}, ${number(LIMITS.plan)}`,
    'characters of the name of a group': number(LIMITS.groupName),
  },
  'Accounts on a store that several servers share (`--store`)': {
    'URL, path of the socket, `--store-prefix`': `${number(LONGEST_URL)} characters, ${number(LONGEST_SOCKET)} bytes, 64 characters`,
    'time to connect at the start, and to wait for a store that loads its data': `${seconds(FIRST_CONNECTING)}, ${seconds(LOADING)}`,
    'time for a step of the store, and for one with a whole account': `${seconds(DEADLINE)}, ${seconds(LARGE_DEADLINE)}`,
    'attempts at a change that others change at the same time': number(MAX_ATTEMPTS),
    'changes of an account that a rewind can undo': `${number(inLibrary('RECORDS') - 1)} or ${bytes(inLibrary('BYTES'))}`,
    'time for which a server that is heard of no more counts as running': seconds(LEASE),
    'requests that wait while the store is away': bytes(UNSENT),
    'time in which a server waits for the requests of the others': `${ROUNDUP} ms`,
    'accounts that a start beyond loopback searches for computable keys': number(SEARCHED),
  },
  'Journal, verdict and events': {
    'requests of an account in the journal (`--journal`)': number(LIBRARY_OPTIONS.journal.default),
    'all entries of the journal (`--max-memory`)': `${bytes(JOURNAL_LIMITS.total)}, at most ${percent(OF_JOURNAL)} of the memory`,
    'body in the journal': bytes(JOURNAL_LIMITS.body),
    'problems of a request in the journal': number(JOURNAL_LIMITS.problems),
    'violations that the verdict keeps whole': number(EXAMPLES),
    'changes of a request that an explanation lists, and members in one': `${number(LISTED_CHANGES)}, ${number(LISTED_MEMBERS)}`,
    'streams of events': number(limits.eventStreams),
    'events that wait for a reader': `${number(BACKLOG.events)} or ${bytes(BACKLOG.bytes)}; ${bytes(TOTAL)} for all`,
    'time in which a reader of events takes nothing': seconds(HEARTBEAT * MISSED),
    'requests that wait for a reader of `events()` of the library': `${number(WAITING.requests)} or ${bytes(WAITING.bytes)}`,
    'time for which `waitFor` of the library waits (its `timeout`)': `${seconds(WAIT.usual)}, at most ${seconds(WAIT.longest)}`,
  },
  'Control plane': {
    'body of a request': bytes(limits.bodyLimit),
    'levels of a body': number(limits.nestingLimit),
    'items of a page (`limit` of the request)': `${number(limits.pageDefault)}, at most ${number(limits.pageLimit)}`,
    'length of a page': `about ${bytes(limits.pageBytes)}`,
    'days, records, and domains in `domain`, of `GET …/dmarc`': `${number(LIMITS.days)}, ${number(limits.recordsLimit)}, ${number(limits.namedDomains)}`,
    'days × domains of `GET …/overview`': number(limits.overviewRecords),
    'domains that an overview names': number(NAMED),
    'body, header fields and delay of a fault rule': `${bytes(limits.answerLimit)}, ${number(schema('FaultRule/properties/respond/properties/headers/maxProperties'))} of ${number(schema('FaultRule/properties/respond/properties/headers/additionalProperties/maxLength'))} characters, ${seconds(LIMITS.delay)}`,
    'any other text, list or object of a request':
      'in the [document](../src/admin/openapi.yaml) and in the schema of fixtures',
  },
  Reports: {
    findings: number(BOUNDS.findings),
    checks: number(BOUNDS.checks),
    'rows of a table': number(BOUNDS.rows),
    'body or command, and any other text': `${number(BOUNDS.code)}, ${number(BOUNDS.text)} characters`,
    'findings in the summary on standard error (`run --report html=FILE`)': number(SUMMARISED),
    'report `markdown`, and summary of a step on GitHub Actions': `${number(LONGEST_COMMENT)} characters, ${bytes(LARGEST_SUMMARY)}`,
    'annotations of a step, of each level': number(ANNOTATIONS),
  },
  'Runs of `vary` and `explore`': {
    'time of a run of `vary` (`--timeout`)': `${PATIENCE_OF_VARY.factor} times as long as by itself, and at least ${seconds(PATIENCE_OF_VARY.least)}`,
    'time of a run of `explore` (`--timeout`)': `${FACTOR} times as long as without faults and ${SPARE / 1000} s more`,
    'time for all runs of `explore` (`--budget`, `--runs`)': `${USUAL_BUDGET.optional}; ${USUAL_BUDGET.needed} until the first two tiers are complete`,
    'requests of one run of `explore`, and of all': `${number(EXCHANGES)}, ${number(KEPT_REQUESTS)}`,
    'rules and file of a plan': `${number(LIMITS.faults)}, ${bytes(LARGEST_PLAN)}`,
    'last output of a failing command': `${number(LINES)} lines, ${number(CHARACTERS)} characters`,
    'switches and orders of `explore --beside` (`--switches`)': `${number(SWITCHES)}, ${number(CONSIDERED)}`,
    'time without a request in which a command of `--beside` sleeps': seconds(SILENCE),
  },
  'Requests of `verify`': {
    'requests to a path in an hour (`--reserve`)': 'the quota of the contract',
    'time for a response (`--timeout`)': '30 s',
    'body, and header, of a response': `${bytes(LARGEST_RESPONSE)}, ${bytes(LARGEST_RESPONSE_HEADER)}`,
    'windows in which nothing can be asked': number(FRUITLESS_WINDOWS),
    'ledger, and the body of an exchange in it': `${bytes(LARGEST_LEDGER)}, ${bytes(LARGEST_KEPT)}`,
  },
  Recordings: {
    'entry of a HAR file, and its levels': `${bytes(ENTRY_LIMITS.bytes)}, ${number(ENTRY_LIMITS.depth)}`,
    'body of an exchange': bytes(LARGEST_BODY),
    'exchanges of all files': number(MOST_EXCHANGES),
    'keys that are told apart': number(MOST_KEYS),
    'body in a recording that is written': bytes(WRITER_LIMITS.body),
    'recording that is written, and what waits to be written': `${bytes(WRITER_LIMITS.file)}, ${bytes(WRITER_LIMITS.waiting)}`,
  },
  'The proxy': {
    'connections of clients (`--max-connections`)': number(PROXY_OPTIONS.maxConnections.default),
    'time in which nothing is sent, and for a connection to the service': `${seconds(IDLE)}, ${seconds(CONNECT_PATIENCE)}`,
    'header of a message': bytes(HEADER_LIMIT),
    'requests of a connection without a response': number(PIPELINE_LIMIT),
    'body that is judged, and without its content codings': `${bytes(BODY_LIMIT)}, ${bytes(DECODED_LIMIT)}`,
    'exchanges that wait to be judged, and how long at a stop': `${number(JUDGING_LIMITS.exchanges)}, ${bytes(JUDGING_LIMITS.bytes)}, ${seconds(JUDGING_PATIENCE)}`,
  },
  Evidence: {
    'evidence file, and dependencies file': `${bytes(EVIDENCE_LIMITS.bytes)}, ${bytes(LARGEST_DEPENDENCIES)}`,
    'different observations, and findings, in it': `${number(EVIDENCE_LIMITS.observations)}, ${number(EVIDENCE_LIMITS.findings)}`,
    'values tried in a search for a verdict': number(TRIES),
    'findings of a baseline, and its size': `${number(LARGEST_BASELINE.findings)}, ${bytes(LARGEST_BASELINE.bytes)}`,
  },
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}

function bytes(value: number): string {
  return value < 2 ** 20 ? `${number(value / 2 ** 10)} KiB` : `${number(value / 2 ** 20)} MiB`
}

function seconds(milliseconds: number): string {
  return milliseconds < 120_000 ? `${number(milliseconds / 1_000)} s` : `${number(milliseconds / 60_000)} min`
}

function percent(share: number): string {
  return `${share * 100} %`
}
