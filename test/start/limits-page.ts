import { maxHeaderSize } from 'node:http'
import { LARGE, LARGE_AT_ONCE } from '../../src/admin/admin.ts'
import { loadControlApi, readLimits } from '../../src/admin/document.ts'
import { BACKLOG, TOTAL } from '../../src/admin/event-feed.ts'
import { HEARTBEAT, PATIENCE as MISSED } from '../../src/admin/event-stream.ts'
import { PATIENCE } from '../../src/admin/list-writer.ts'
import { KEPT_OVERVIEWS } from '../../src/admin/overview.ts'
import { TRIES } from '../../src/choices/constraint-network.ts'
import { EVIDENCE_KEPT } from '../../src/choices/observation.ts'
import { LONGEST_PLAN as LONGEST_TURNS, SWITCHES } from '../../src/cli/beside.ts'
import { STORIES, USUAL_BUDGET } from '../../src/cli/explore.ts'
import { LARGEST_PLAN } from '../../src/cli/plan-file.ts'
import { JUDGING_PATIENCE, OPTIONS as PROXY_OPTIONS, SHOWN_LIVE } from '../../src/cli/proxy.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { LIMITS } from '../../src/domain/limits.ts'
import { LARGEST_BASELINE } from '../../src/evidence/baseline.ts'
import { LARGEST_DEPENDENCIES } from '../../src/evidence/dependencies.ts'
import { EVIDENCE_LIMITS } from '../../src/evidence/evidence-schema.ts'
import { LARGEST_BODY } from '../../src/exchanges/har/entry.ts'
import { ENTRY_LIMITS } from '../../src/exchanges/har/entry-scanner.ts'
import { MOST_EXCHANGES } from '../../src/exchanges/har/reader.ts'
import { WRITER_LIMITS } from '../../src/exchanges/har/writer.ts'
import { MOST_KEYS } from '../../src/exchanges/keys.ts'
import { LISTED_CHANGES, LISTED_MEMBERS } from '../../src/explain/changes.ts'
import { PART, WHOLE } from '../../src/explain/set-up.ts'
import { KEPT_DOMAINS } from '../../src/figures/figures.ts'
import { NAMED } from '../../src/figures/overview.ts'
import { valueAt } from '../../src/ground/json.ts'
import { BLOCK } from '../../src/http/anonymous-ids.ts'
import { CONNECTION_LIMITS, LINGER, TURN } from '../../src/http/engine/connection.ts'
import { STOP_PATIENCE, TIMEOUTS } from '../../src/http/engine/http-server.ts'
import { RECEPTION } from '../../src/http/reception.ts'
import { KEPT } from '../../src/http/reply.ts'
import { JOURNAL_LIMITS } from '../../src/journal/journal.ts'
import { EXAMPLES } from '../../src/journal/verdict.ts'
import { PATIENCE as WAIT } from '../../src/library/account-requests.ts'
import { WAITING } from '../../src/library/request-feed.ts'
import { DESCRIBED, FORMER } from '../../src/library/violations.ts'
import { BODIES_LIMIT, BODY_LIMIT } from '../../src/proxy/collected-body.ts'
import { CONNECT_PATIENCE, HEADER_LIMIT, PIPELINE_LIMIT } from '../../src/proxy/connection.ts'
import { CODINGS_LIMIT, DECODED_LIMIT } from '../../src/proxy/decoding.ts'
import { VERDICT_PATIENCE } from '../../src/proxy/proxy.ts'
import { IDLE } from '../../src/proxy/relay.ts'
import { LOST_REQUEST, ORDER_PATIENCE } from '../../src/proxy/traffic.ts'
import { JUDGING_LIMITS, READING_LIMIT } from '../../src/proxy/witness.ts'
import { DEADLINE, FIRST_CONNECTING, LARGE_DEADLINE } from '../../src/redis/connection.ts'
import { REMEMBERED as REPEATED } from '../../src/redis/database.ts'
import { EXPLAINING } from '../../src/redis/examples.ts'
import { MEMBERS } from '../../src/redis/exchange-codec.ts'
import { readLibrary } from '../../src/redis/library.ts'
import { BEAT_EVERY, PATIENCE as DOOR_PATIENCE, LEASE } from '../../src/redis/membership.ts'
import { REMEMBERED as COMPARED_KEYS } from '../../src/redis/observer.ts'
import { WAITING as UNSENT } from '../../src/redis/outbox.ts'
import { READING } from '../../src/redis/recorded-exchange.ts'
import { PATIENCE as ROUNDUP } from '../../src/redis/roundup.ts'
import { LOADING } from '../../src/redis/server-check.ts'
import { WINDOW } from '../../src/redis/shared-exchange-log.ts'
import { HELD, LATE } from '../../src/redis/shared-journal.ts'
import { MAX_ATTEMPTS } from '../../src/redis/updates.ts'
import { BOUNDS } from '../../src/reports/bounds.ts'
import { ANNOTATIONS, LARGEST_SUMMARY } from '../../src/reports/github.ts'
import { LONGEST_COMMENT } from '../../src/reports/markdown.ts'
import { LONGEST_DESCRIPTION, LONGEST_NAME } from '../../src/reports/sarif.ts'
import { SUMMARISED } from '../../src/reports/summary.ts'
import { SEARCHED } from '../../src/start/default-account.ts'
import { OF_HEAP, OF_JOURNAL, OF_MACHINE } from '../../src/start/memory.ts'
import { LIBRARY_OPTIONS } from '../../src/start/option-table.ts'
import { LONGEST_SOCKET, LONGEST_URL } from '../../src/start/store-url.ts'
import { LARGEST_FILE } from '../../src/store/folder/account-file.ts'
import { OF_SANDBOXES } from '../../src/store/memory-budget.ts'
import { HOPELESS, SILENCE } from '../../src/trials/beside/conductor.ts'
import { CONSIDERED } from '../../src/trials/beside/search.ts'
import { LONGEST_STORY } from '../../src/trials/beside/story.ts'
import { TOLD as DIFFERENCES } from '../../src/trials/explore/effects.ts'
import { FACTOR, PATIENCE as PATIENCE_OF_EXPLORE, SPARE } from '../../src/trials/explore/session.ts'
import { EARLIER } from '../../src/trials/explore/shrinking.ts'
import { AFTER, BEFORE } from '../../src/trials/explore/story.ts'
import { KEPT as KEPT_REQUESTS } from '../../src/trials/explore/tried-plans.ts'
import { LISTED } from '../../src/trials/failed-tests.ts'
import { CHARACTERS, LINES } from '../../src/trials/output-tail.ts'
import { EXCHANGES } from '../../src/trials/trial.ts'
import { SHOWN } from '../../src/trials/vary/first-difference.ts'
import { MORE_PATIENCE } from '../../src/trials/vary/judge.ts'
import { LONGEST_FILLER } from '../../src/trials/vary/replay.ts'
import { PATIENCE as PATIENCE_OF_VARY } from '../../src/trials/vary/vary.ts'
import { FRUITLESS_WINDOWS, SLACK } from '../../src/verify/asking.ts'
import { LARGEST_RESPONSE, LARGEST_RESPONSE_HEADER } from '../../src/verify/client.ts'
import { MOST_SET_UPS } from '../../src/verify/foresight.ts'
import { LARGEST_KEPT, LARGEST_LEDGER } from '../../src/verify/ledger.ts'
import { MOST_DOMAINS } from '../../src/verify/probe.ts'

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
    const [, limit = '', former, rest] = /^\| (.+?) \| (.+?) (\| .*)$/.exec(line) ?? []
    if (former === undefined || former === '---' || former === 'default') return line
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
    'body of a request to the service': bytes(settings.bodyLimit),
    'header of a request': bytes(maxHeaderSize),
    'bodies that are being received, all together': bytes(RECEPTION),
    'time for a header, and for a whole request': `${seconds(TIMEOUTS.headersTimeout)}, ${seconds(TIMEOUTS.requestTimeout)}`,
    'time between two requests of a connection': seconds(TIMEOUTS.keepAliveTimeout),
    connections: number(LIBRARY_OPTIONS.maxConnections.default),
    'requests of a connection that are worked on': number(TURN),
    'requests read behind one that takes its time': bytes(CONNECTION_LIMITS.readAhead),
    'responses of a connection that wait to be sent': bytes(CONNECTION_LIMITS.unsent),
    'time in which a client reads nothing of its responses': seconds(CONNECTION_LIMITS.stuck),
    'time in which nothing passes on a connection': seconds(CONNECTION_LIMITS.silent),
    'the same, where the client has closed its side and waits for an answer': seconds(CONNECTION_LIMITS.halfClosed),
    'time until a client that left is noticed, unless more of its requests wait than are read': seconds(
      CONNECTION_LIMITS.inspectEvery,
    ),
    'time in which the rest of a refused upload is read past': seconds(LINGER),
    'time for requests that are under way at a stop': seconds(STOP_PATIENCE),
  },
  'Accounts and memory': {
    accounts: number(LIBRARY_OPTIONS.maxAccounts.default),
    'time in which a changed sandbox makes no room': String(LIBRARY_OPTIONS.sandboxIdle.default),
    'memory for accounts, snapshots and journal': `${percent(OF_HEAP)} of the heap of Node.js, at most ${percent(OF_MACHINE)} of the memory of the machine`,
    'of this, the memory of one account': 'as much as is still free',
    'of this, the memory of all sandboxes': percent(OF_SANDBOXES),
    'keys of an account': number(LIMITS.keys),
    'fault rules of an account': number(LIMITS.faults),
    'snapshots of an account': number(LIMITS.snapshots),
    'domains, groups and members of an account': 'what its memory permits',
    'scenes of an account': `${number(LIMITS.scenes)}, with ${number(LIMITS.calls)} calls each, and ${bytes(LIMITS.scenesBytes)} in all; bodies of ${number(LIMITS.sceneDepth)} levels`,
    'natures of removed domains that an account remembers': number(LIMITS.formerDomains),
    'earlier fixed values of a domain': number(LIMITS.formerPins),
    'quota counters': 'one for each key and path',
    'responses that are kept for the next reader': bytes(KEPT),
    'domains of which figures are kept': number(KEPT_DOMAINS),
  },
  Values: {
    'instants: of clocks, of what was added or created, and of periods': `${day(LIMITS.firstInstant)} to ${day(LIMITS.lastInstant)}, in UTC`,
    'the last instant that the control plane sets a clock to': `${new Date(LIMITS.lastSetting).toISOString().replace('.000', '')}`,
    'messages in a record': number(LIMITS.messages),
    'messages of a domain in an ordinary month, in a fixture': number(LIMITS.volume),
    'groups that an account has ever created': number(LIMITS.groupsCreated),
    seed: number(LIMITS.seed),
    'requests that a fault rule lets pass, or acts on': number(LIMITS.matches),
    'requests of a quota, and by how much a new key may have more': `${number(LIMITS.quota)}, ${number(LIMITS.grace)} times`,
    'window of a quota, grace period, processing time': `${number(LIMITS.period)} s`,
    'caps of domains, groups and members': number(LIMITS.cap),
    'body limit of the service': bytes(LIMITS.body),
    'days of which a record counts the mail': number(LIMITS.days),
    'plans, and characters of the name of one': `${number(LIMITS.plans)}, ${number(LIMITS.plan)}`,
    'characters of the name of a group': `as the contract says, at most ${number(LIMITS.groupName)}`,
    'features of a domain, and characters of one': `${number(LIMITS.features)}, ${number(LIMITS.feature)}`,
    'characters of a key, its label, its id': `${number(LIMITS.key)}, ${number(LIMITS.label)}, ${number(LIMITS.keyId)}`,
    'characters of the id of an account, and of the name of a snapshot': number(LIMITS.accountId),
    'title and description of a fixture, title and text of a scene': `${number(LIMITS.title)}, ${number(LIMITS.description)}, ${number(LIMITS.sceneTitle)} and ${number(LIMITS.sceneText)} characters`,
    'size of a value for which the coverage shows a request': number(LIMITS.sample),
    'keys that an account has made of which a start beyond loopback computes the secrets': `the last ${number(LIMITS.derivedKeys)}`,
  },
  'Accounts on a store that several servers share (`--store`)': {
    'changes of an account that a rewind can undo': `${number(inLibrary('RECORDS') - 1)} or ${bytes(inLibrary('BYTES'))}`,
    'last requests of each server that an account remembers': number(REPEATED),
    'time for which others wait for a change that was too late three times': milliseconds(inLibrary('TURN') / 1000),
    'attempts at a change of an account that others change at the same time': number(MAX_ATTEMPTS),
  },
  'Requests on a store that several servers share': {
    'exchanges that wait while the store is away': bytes(UNSENT),
    'exchanges that the store keeps': `${number(LIBRARY_OPTIONS.journal.default)} of each account, and as many bytes as the journal of a server may have`,
    'exchanges of each account that the store keeps at least, for servers that are behind': number(WINDOW),
    'time in which a server waits until the others have sent what they have': `${ROUNDUP} ms`,
    'time by which an exchange may come late, and is still sorted among those of other servers': milliseconds(LATE),
    'batches of exchanges of a server that the store has not told back yet': number(HELD),
    'time in which a violation is explained by the server that has answered the request': milliseconds(
      EXPLAINING.patience,
    ),
    'keys and accounts of which a server remembers the last requests': number(COMPARED_KEYS),
    'members of a group that are kept with a request': number(MEMBERS),
  },
  'Journal, verdict and events': {
    'requests of an account in the journal': number(LIBRARY_OPTIONS.journal.default),
    'all entries of the journal': `${bytes(JOURNAL_LIMITS.total)}, at most ${percent(OF_JOURNAL)} of the memory`,
    'body in the journal': bytes(JOURNAL_LIMITS.body),
    'problems of a request in the journal': number(JOURNAL_LIMITS.problems),
    'violations that the verdict keeps whole': number(EXAMPLES),
    'changes of a request that an explanation lists': number(LISTED_CHANGES),
    'members of a group that came, or went, in such a change': number(LISTED_MEMBERS),
    'domains, and groups, of an account that the code to send a request again sets up as a whole': number(WHOLE),
    'domains that it sets up of a larger account': number(PART),
    'streams of events': number(limits.eventStreams),
    'events that wait for the readers of an account, or of all accounts': `${number(BACKLOG.events)} or ${bytes(BACKLOG.bytes)}`,
    'events that wait for all readers': bytes(TOTAL),
    'kinds of violations that a `ViolationError` of a test describes': number(DESCRIBED),
    'accounts of former tests that are remembered, so that late requests are not charged to other tests':
      number(FORMER),
    'requests that wait for a reader of `events()` of the library': `${number(WAITING.requests)} or ${bytes(WAITING.bytes)}`,
    'time for which `waitFor` of the library waits': `${seconds(WAIT.usual)}, at most ${seconds(WAIT.longest)}`,
    'time in which a reader of events takes nothing': seconds(HEARTBEAT * MISSED),
  },
  'Control plane': {
    'body of a request': bytes(limits.bodyLimit),
    [`bodies of more than ${bytes(LARGE)} that are worked on`]: number(LARGE_AT_ONCE),
    'levels of a body': number(limits.nestingLimit),
    'items of a page': `${number(limits.pageDefault)}, at most ${number(limits.pageLimit)}`,
    'length of a page': `about ${bytes(limits.pageBytes)}`,
    'time in which a reader of a page takes nothing': seconds(PATIENCE),
    'days of `GET …/dmarc`': number(LIMITS.days),
    'records of `GET …/dmarc`': number(limits.recordsLimit),
    'days × domains of `GET …/overview`': number(limits.overviewRecords),
    'domains that an overview names': number(NAMED),
    'overviews that are kept': number(KEPT_OVERVIEWS),
    'domains that `domain` of `GET …/dmarc` names': number(limits.namedDomains),
    'body that a fault rule answers': bytes(limits.answerLimit),
    'delay of a fault rule': seconds(LIMITS.delay),
    'header fields that a fault rule answers': `${number(schema('FaultRule/properties/respond/properties/headers/maxProperties'))} of ${number(schema('FaultRule/properties/respond/properties/headers/additionalProperties/maxLength'))} characters`,
    'any other text, list or object of a request':
      'in the [document](../src/admin/openapi.yaml) and in the schema of fixtures',
  },
  'Data folder': {
    'file of an account': bytes(LARGEST_FILE),
    'memory of all kept accounts': 'the memory for accounts',
  },
  'Shared store': {
    'URL of a store': `${number(LONGEST_URL)} characters`,
    'path of the socket of a store': `${number(LONGEST_SOCKET)} bytes`,
    'prefix of the keys of a store': '64 characters',
    'time for one step of the store, with everything that it waits for': milliseconds(DEADLINE),
    'the same, for what copies or reads a whole account': `${seconds(LARGE_DEADLINE)}; for a change, 1 ms more for each 20 parts of it`,
    'time in which a request waits to learn whether the store is the one that it was': milliseconds(DOOR_PATIENCE),
    'time between two looks at the store': milliseconds(BEAT_EVERY),
    'time for which a server that is heard of no more counts as running': seconds(LEASE),
    'time to connect at the start': seconds(FIRST_CONNECTING),
    'time in which the start waits for a store that loads its data': milliseconds(LOADING),
    'time for one step of reading the journal at the start': seconds(READING),
    'numbers for requests of no account that a server reserves ahead': number(BLOCK),
    'accounts that a start beyond loopback searches for computable keys': number(SEARCHED),
    'copies of accounts that a server keeps': 'the memory without the share of the journal',
  },
  Reports: {
    findings: number(BOUNDS.findings),
    checks: number(BOUNDS.checks),
    'rows of a table': number(BOUNDS.rows),
    'body, command, or side of a comparison': `${number(BOUNDS.code)} characters`,
    'any other text': `${number(BOUNDS.text)} characters`,
    'findings in the summary on standard error': number(SUMMARISED),
    'report `markdown`': `${number(LONGEST_COMMENT)} characters`,
    'summary of a step on GitHub Actions': bytes(LARGEST_SUMMARY),
    'annotations of a step, of each level': number(ANNOTATIONS),
    'name and description of a rule in `sarif`': `${number(LONGEST_NAME)}, ${number(LONGEST_DESCRIPTION)} characters`,
  },
  'Reports of `vary`': {
    'body that was refused unread, in its place when the request is answered again': bytes(LONGEST_FILLER),
    'body of a response that differed': `${number(SHOWN)} characters`,
    'last output of a failing command': `${number(LINES)} lines, ${number(CHARACTERS)} characters`,
    'names of failed tests': number(LISTED),
    'time of a run': `${PATIENCE_OF_VARY.factor} times as long as by itself, and at least ${seconds(PATIENCE_OF_VARY.least)}`,
  },
  'Runs of `explore`': {
    'time for all runs': `${USUAL_BUDGET.optional}; ${USUAL_BUDGET.needed} until the first two tiers are complete`,
    'time for one run': `${FACTOR} times as long as without faults and ${SPARE / 1000} s more`,
    'requests of one run that are kept': number(EXCHANGES),
    'requests of all runs that are kept': number(KEPT_REQUESTS),
    'rules of a plan': number(LIMITS.faults),
    'file of a plan': bytes(LARGEST_PLAN),
    'requests of a story before the first fault, after the last': `${BEFORE}, ${AFTER}`,
    'stories on standard error': number(STORIES),
    'differences of effects that are told': number(DIFFERENCES),
    'earlier requests that a smaller plan is looked for at': number(EARLIER),
  },
  'Runs of `explore --beside`': {
    'changes to the other command before the one under way has ended': number(SWITCHES),
    'time without a request in which a command sleeps': seconds(SILENCE),
    'times that a request is repeated more often than in the serial orders, while nothing changes': number(HOPELESS),
    'orders that are considered': number(CONSIDERED),
    'requests of a plan': number(LONGEST_TURNS),
    'lines of a story': number(LONGEST_STORY),
  },
  'Requests of `verify`': {
    'requests to a path in an hour': 'the quota of the contract',
    'time for a response': '30 s',
    'body of a response': bytes(LARGEST_RESPONSE),
    'header of a response': bytes(LARGEST_RESPONSE_HEADER),
    'requests that set up what a question needs': number(MOST_SET_UPS),
    'requests of a path kept for the cleanup beside those that it needs': number(SLACK),
    'domains that one request of the cleanup removes': number(MOST_DOMAINS),
    'windows in which nothing can be asked': number(FRUITLESS_WINDOWS),
    'body of an exchange in a ledger': bytes(LARGEST_KEPT),
    ledger: bytes(LARGEST_LEDGER),
  },
  Recordings: {
    'entry of a HAR file': bytes(ENTRY_LIMITS.bytes),
    'levels of an entry': number(ENTRY_LIMITS.depth),
    'body of an exchange': bytes(LARGEST_BODY),
    'exchanges of all files': number(MOST_EXCHANGES),
    'keys that are told apart': number(MOST_KEYS),
    'body in a recording that is written': bytes(WRITER_LIMITS.body),
    'recording that is written': bytes(WRITER_LIMITS.file),
    'exchanges that wait to be written': bytes(WRITER_LIMITS.waiting),
  },
  'The proxy': {
    'connections of clients': number(PROXY_OPTIONS.maxConnections.default),
    'time in which nothing is sent in either direction': seconds(IDLE),
    'time for a connection to the service': seconds(CONNECT_PATIENCE),
    'time for requests that are under way at a stop': seconds(STOP_PATIENCE),
    'header of a message': bytes(HEADER_LIMIT),
    'requests of a connection without a response': number(PIPELINE_LIMIT),
    'body that is judged': bytes(BODY_LIMIT),
    'the same without its content codings': bytes(DECODED_LIMIT),
    'content codings of a body': number(CODINGS_LIMIT),
    'bodies that are kept until they are judged': bytes(BODIES_LIMIT),
    'exchanges that wait to be read': number(READING_LIMIT),
    'exchanges that wait to be judged, and their bodies': `${number(JUDGING_LIMITS.exchanges)}, ${bytes(JUDGING_LIMITS.bytes)}`,
    'time for which an exchange waits for one that began before it': seconds(ORDER_PATIENCE),
    'time in which a change without a response may still be made': seconds(LOST_REQUEST),
    'findings that are shown at once': number(SHOWN_LIVE),
    'time for what waits to be judged at a stop': seconds(JUDGING_PATIENCE),
    'the same for a question for the verdict': seconds(VERDICT_PATIENCE),
  },
  Evidence: {
    'evidence file': bytes(EVIDENCE_LIMITS.bytes),
    'different observations in it': number(EVIDENCE_LIMITS.observations),
    'combinations of an observation': number(EVIDENCE_LIMITS.combinations),
    'assumptions of an observation': number(EVIDENCE_LIMITS.assumptions),
    'findings in it': number(EVIDENCE_LIMITS.findings),
    'messages of a code in it': number(EVIDENCE_LIMITS.messages),
    'text in it': `${number(EVIDENCE_LIMITS.text)} characters`,
    'exchanges that an observation names': number(EVIDENCE_KEPT),
    'values tried in a search for a verdict': number(TRIES),
    'findings of a baseline': `${number(LARGEST_BASELINE.findings)}, ${bytes(LARGEST_BASELINE.bytes)}`,
    'dependencies file': bytes(LARGEST_DEPENDENCIES),
  },
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}

function bytes(value: number): string {
  return value < 2 ** 20 ? `${number(value / 2 ** 10)} KiB` : `${number(value / 2 ** 20)} MiB`
}

function milliseconds(value: number): string {
  return `${number(value)} ms`
}

function seconds(milliseconds: number): string {
  return milliseconds < 120_000 ? `${number(milliseconds / 1_000)} s` : `${number(milliseconds / 60_000)} min`
}

function percent(share: number): string {
  return `${share * 100} %`
}
