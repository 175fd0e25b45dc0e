import { readFileSync } from 'node:fs'
import { maxHeaderSize } from 'node:http'
import { KEYS_PER_ACCOUNT } from '../../src/accounts/fixture.ts'
import { BYTES_OF_SCENES, DEPTH_OF_BODY } from '../../src/accounts/scenes.ts'
import { LARGE, LARGE_AT_ONCE } from '../../src/admin/admin.ts'
import { PERIOD } from '../../src/admin/daily-records.ts'
import { loadControlApi, readLimits } from '../../src/admin/document.ts'
import { BACKLOG, TOTAL } from '../../src/admin/event-feed.ts'
import { HEARTBEAT, PATIENCE as MISSED } from '../../src/admin/event-stream.ts'
import { PATIENCE } from '../../src/admin/list-writer.ts'
import { KEPT_OVERVIEWS } from '../../src/admin/overview.ts'
import { STORIES, USUAL_BUDGET } from '../../src/cli/explore.ts'
import { LARGEST_PLAN } from '../../src/cli/plan-file.ts'
import { JUDGING_PATIENCE, OPTIONS as PROXY_OPTIONS, SHOWN_LIVE } from '../../src/cli/proxy.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { REMEMBERED } from '../../src/domain/former-domains.ts'
import { LARGEST_BASELINE } from '../../src/evidence/baseline.ts'
import { TRIES } from '../../src/evidence/constraint-network.ts'
import { EVIDENCE_LIMITS } from '../../src/evidence/evidence-schema.ts'
import { LARGEST_BODY } from '../../src/evidence/har/entry.ts'
import { ENTRY_LIMITS } from '../../src/evidence/har/entry-scanner.ts'
import { MOST_EXCHANGES } from '../../src/evidence/har/survey.ts'
import { WRITER_LIMITS } from '../../src/evidence/har/writer.ts'
import { MOST_KEYS } from '../../src/evidence/keys.ts'
import { EVIDENCE_KEPT } from '../../src/evidence/observation.ts'
import { BODIES_LIMIT, BODY_LIMIT } from '../../src/evidence/proxy/collected-body.ts'
import { CONNECT_PATIENCE, SILENCE } from '../../src/evidence/proxy/connection.ts'
import { PIPELINE_LIMIT } from '../../src/evidence/proxy/conversation.ts'
import { CODINGS_LIMIT, DECODED_LIMIT } from '../../src/evidence/proxy/decoding.ts'
import { JUDGING_LIMITS } from '../../src/evidence/proxy/judging.ts'
import { HEAD_LIMIT } from '../../src/evidence/proxy/message-reader.ts'
import { IDLE, STOP_PATIENCE as STOP_PATIENCE_OF_PROXY } from '../../src/evidence/proxy/relay.ts'
import { LOST_REQUEST, ORDER_PATIENCE } from '../../src/evidence/proxy/traffic.ts'
import { READING_LIMIT } from '../../src/evidence/proxy/witness.ts'
import { LARGEST_RESPONSE, LARGEST_RESPONSE_HEADER } from '../../src/evidence/verify/client.ts'
import { MOST_SET_UPS } from '../../src/evidence/verify/foresight.ts'
import { LARGEST_KEPT, LARGEST_LEDGER } from '../../src/evidence/verify/ledger.ts'
import { REMOVED_AT_ONCE } from '../../src/evidence/verify/restoration.ts'
import { FRUITLESS_WINDOWS, SLACK } from '../../src/evidence/verify/verification.ts'
import { LISTED_CHANGES, LISTED_MEMBERS } from '../../src/explain/changes.ts'
import { PART, WHOLE } from '../../src/explain/set-up.ts'
import { KEPT_DOMAINS } from '../../src/figures/figures.ts'
import { NAMED } from '../../src/figures/overview.ts'
import { valueAt } from '../../src/ground/json.ts'
import { CONNECTION_LIMITS, LINGER, TURN } from '../../src/http/engine/connection.ts'
import { STOP_PATIENCE, TIMEOUTS } from '../../src/http/engine/http-server.ts'
import { BLOCK } from '../../src/http/nobody-ids.ts'
import { RECEPTION } from '../../src/http/reception.ts'
import { KEPT } from '../../src/http/reply.ts'
import { JOURNAL_LIMITS } from '../../src/journal/journal.ts'
import { EXAMPLES } from '../../src/journal/verdict.ts'
import { PATIENCE as WAIT } from '../../src/library/account-requests.ts'
import { WAITING } from '../../src/library/request-feed.ts'
import { DESCRIBED, FORMER } from '../../src/library/violations.ts'
import { MEMBERS } from '../../src/replicas/exchange-codec.ts'
import { REMEMBERED as COMPARED_KEYS } from '../../src/replicas/observer.ts'
import { WAITING as UNSENT } from '../../src/replicas/outbox.ts'
import { PATIENCE as ROUNDUP } from '../../src/replicas/roundup.ts'
import { EXPLAINING, HELD, OF_JOURNAL as OF_STORE, WINDOW } from '../../src/replicas/shared-exchange-log.ts'
import { CATCHING_UP, STARTING } from '../../src/replicas/tail.ts'
import { BOUNDS } from '../../src/reports/bounds.ts'
import { ANNOTATIONS, LARGEST_SUMMARY } from '../../src/reports/github.ts'
import { LONGEST_COMMENT } from '../../src/reports/markdown.ts'
import { LONGEST_DESCRIPTION, LONGEST_NAME } from '../../src/reports/sarif.ts'
import { SUMMARISED } from '../../src/reports/summary.ts'
import { SEARCHED } from '../../src/start/default-account.ts'
import { OF_HEAP, OF_JOURNAL, OF_MACHINE } from '../../src/start/memory.ts'
import { SERVER_OPTIONS } from '../../src/start/option-table.ts'
import { LONGEST_SOCKET, LONGEST_URL } from '../../src/start/store-url.ts'
import { LARGEST_FILE } from '../../src/store/folder/account-file.ts'
import { OF_SANDBOXES } from '../../src/store/memory-budget.ts'
import { CONNECTING, DEADLINE, LARGE_DEADLINE } from '../../src/store/redis/connection.ts'
import { formerKeys } from '../../src/store/redis/keys.ts'
import { BEAT_EVERY, PATIENCE as DOOR_PATIENCE, LEASE } from '../../src/store/redis/membership.ts'
import { LOADING } from '../../src/store/redis/server-check.ts'
import { MAX_ATTEMPTS } from '../../src/store/redis/updates.ts'
import { readScript } from '../../src/store/script.ts'
import { TOLD as DIFFERENCES } from '../../src/trials/explore/effects.ts'
import { FACTOR, PATIENCE as PATIENCE_OF_EXPLORE, SPARE } from '../../src/trials/explore/session.ts'
import { EARLIER } from '../../src/trials/explore/shrinking.ts'
import { AFTER, BEFORE } from '../../src/trials/explore/story.ts'
import { KEPT as KEPT_REQUESTS } from '../../src/trials/explore/tried-plans.ts'
import { LISTED } from '../../src/trials/failed-tests.ts'
import { EXCHANGES } from '../../src/trials/trial.ts'
import { LARGEST } from '../../src/trials/vary/bundles.ts'
import { LARGEST_DEPENDENCIES } from '../../src/trials/vary/dependencies-file.ts'
import { CHARACTERS, LINES } from '../../src/trials/vary/failure.ts'
import { SHOWN } from '../../src/trials/vary/first-difference.ts'
import { MORE_PATIENCE } from '../../src/trials/vary/judge.ts'
import { PATIENCE as UNANSWERED } from '../../src/trials/vary/replay.ts'
import { LONGEST_FILLER } from '../../src/trials/vary/request-bytes.ts'
import { PATIENCE as PATIENCE_OF_VARY } from '../../src/trials/vary/vary.ts'

const HEAD = `# Limits

<!-- Written by test/start/limits.test.ts from the code and from both documents; change it there. -->

Every size has a limit, which is checked before the work is done. What an account costs is charged to the account.
An option of \`serve\` changes a limit where one is named; the limits of the contract can be changed by an
[overlay](assumptions.md). The other limits are fixed.
`

type Row = [limit: string, value: string, option: string, atIt: string]

const { settings } = await loadContract({ overlays: [] })
const control = await loadControlApi()
const limits = readLimits(control)
const scripts = readScript('store/redis/scripts/step.lua').text
/** A number that the scripts of the store on Redis have by this name. */
const inScript = (name: string) => Number(new RegExp(`^local ${name} = (\\d+)$`, 'm').exec(scripts)?.[1])
const fixtures = JSON.parse(readFileSync('fixtures/fixture.schema.json', 'utf8'))
const scenes = fixtures.properties.scenes
const schema = (pointer: string) => Number(valueAt(control.document.source, `/components/schemas/${pointer}`))

/** The page that lists every limit with its value in the code. */
export function writeLimits(): string {
  return HEAD + SECTIONS.map(([title, rows]) => `\n## ${title}\n\n${table(rows)}`).join('')
}

const SECTIONS: readonly [title: string, rows: readonly Row[]][] = [
  [
    'Requests and connections',
    [
      [
        'body of a request to the service',
        bytes(settings.bodyLimit),
        'overlay `body-limit`',
        '413 `request_too_large`; it is not read',
      ],
      ['header of a request', bytes(maxHeaderSize), '`NODE_OPTIONS=--max-http-header-size`', '431'],
      [
        'bodies that are being received, all together',
        bytes(RECEPTION),
        '',
        '500 `internal_error`, at the control plane 507; a body may be as long as what is still free, so a short one always fits',
      ],
      [
        'time for a header, and for a whole request',
        `${seconds(TIMEOUTS.headersTimeout)}, ${seconds(TIMEOUTS.requestTimeout)}`,
        '',
        '408',
      ],
      ['time between two requests of a connection', seconds(TIMEOUTS.keepAliveTimeout), '', 'the connection is closed'],
      [
        'connections',
        number(SERVER_OPTIONS.maxConnections.default),
        '`--max-connections`',
        '500 `internal_error` and closed; the control plane still answers this machine',
      ],
      ['requests of a connection that are worked on', number(TURN), '', 'the others wait for their turn'],
      ['requests read behind one that takes its time', bytes(CONNECTION_LIMITS.readAhead), '', 'reading pauses'],
      [
        'responses of a connection that wait to be sent',
        bytes(CONNECTION_LIMITS.unsent),
        '',
        'no further request of it is handled until the client reads',
      ],
      [
        'time in which a client reads nothing of its responses',
        seconds(CONNECTION_LIMITS.stuck),
        '',
        'the connection is closed',
      ],
      [
        'time in which nothing passes on a connection',
        seconds(CONNECTION_LIMITS.silent),
        '',
        'the connection is closed',
      ],
      [
        'the same, where the client has closed its side and waits for an answer',
        seconds(CONNECTION_LIMITS.halfClosed),
        '',
        'the connection is closed',
      ],
      [
        'time until a client that left is noticed, unless more of its requests wait than are read',
        seconds(CONNECTION_LIMITS.look),
        '',
        'the connection is freed',
      ],
      ['time in which the rest of a refused upload is read past', seconds(LINGER), '', 'the connection is closed'],
      ['time for requests that are under way at a stop', seconds(STOP_PATIENCE), '', 'their connections are closed'],
    ],
  ],
  [
    'Accounts and memory',
    [
      [
        'accounts',
        number(SERVER_OPTIONS.maxAccounts.default),
        '`--max-accounts`',
        'a sandbox makes room; else 401 `unauthorized` for a new sandbox key, 507 at the control plane, and one line in the log',
      ],
      [
        'time in which a changed sandbox makes no room',
        String(SERVER_OPTIONS.sandboxIdle.default),
        '`--sandbox-idle`',
        'it makes room',
      ],
      [
        'memory for accounts, snapshots and journal',
        `${percent(OF_HEAP)} of the heap of Node.js, at most ${percent(OF_MACHINE)} of the memory of the machine`,
        '`--max-memory`',
        '507 at the control plane, 500 `internal_error` at the service; the account is as before',
      ],
      [
        'of this, the memory of one account',
        'as much as is still free',
        '',
        'the same: an account that is alone may have half, and always leaves room for others',
      ],
      ['of this, the memory of all sandboxes', percent(OF_SANDBOXES), '', 'the same'],
      ['keys of an account', number(KEYS_PER_ACCOUNT), '', '409 `too_many`'],
      ['fault rules of an account', number(limits.faultsPerAccount), '', '409 `too_many`'],
      ['snapshots of an account', number(limits.snapshotsPerAccount), '', '409 `too_many`'],
      [
        'domains, groups and members of an account',
        'what its memory permits',
        'overlays `domain-cap`, `group-cap`, `member-cap`',
        'as the contract says',
      ],
      [
        'scenes of an account',
        `${number(scenes.maxItems)}, with ${number(scenes.items.properties.calls.maxItems)} calls each, and ${bytes(BYTES_OF_SCENES)} in all; bodies of ${number(DEPTH_OF_BODY)} levels`,
        '',
        'the fixture is refused: 400 `invalid_fixture`',
      ],
      ['natures of removed domains that an account remembers', number(REMEMBERED), '', 'the oldest is forgotten'],
      ['quota counters', 'one for each key and path', '', 'forgotten with the key, and when the window is over'],
      ['responses that are kept for the next reader', bytes(KEPT), '', 'all are forgotten and made again'],
      ['domains of which figures are kept', number(KEPT_DOMAINS), '', 'all are forgotten and made again'],
    ],
  ],
  [
    'Accounts on a store that several servers share (`--store`)',
    [
      [
        'changes of an account that a rewind can undo',
        `${number(inScript('RECORDS') - 1)} or ${bytes(inScript('BYTES'))}`,
        '',
        'a rewind to what came before is refused: 404 `not_found`',
      ],
      [
        'of these, changes of more than a quarter of that or of 1,000 domains and groups, such as the reset of a large account',
        `the last ${formerKeys('', '').length}`,
        '',
        'the same',
      ],
      [
        'requests, refunds and settings of counters that a rewind can undo',
        number(inScript('RECORDS')),
        '',
        'the same, also where the journal has more requests',
      ],
      [
        'time for which others wait for a change that was too late three times',
        milliseconds(inScript('TURN')),
        '',
        'they go on, and it has to be decided again',
      ],
      [
        'attempts at a change of an account that others change at the same time',
        number(MAX_ATTEMPTS),
        '',
        '500 `internal_error`, 503 `unavailable` at the control plane; nothing has changed',
      ],
    ],
  ],
  [
    'Requests on a store that several servers share',
    [
      [
        'exchanges that wait while the store is away',
        bytes(UNSENT),
        '',
        'the oldest never come to the other servers, to the verdict and to the coverage; `dmarc_understudy_exchanges_lost_total` counts them',
      ],
      [
        'exchanges that the store keeps',
        `${number(SERVER_OPTIONS.journal.default)} of each account, and as many bytes as ${percent(OF_STORE)} of what the journal of a server may have`,
        '`--journal`, `--max-memory`',
        'the oldest of the account, or of the account that has most, are forgotten',
      ],
      [
        'newest exchanges that the store keeps beside that',
        number(WINDOW),
        '',
        'a server that is further behind reads everything again',
      ],
      [
        'time in which a server waits until the others have sent what they have',
        `${ROUNDUP} ms`,
        '',
        'it answers without what they have not sent, as when they were killed',
      ],
      [
        'time in which a server waits for what the others have recorded',
        seconds(CATCHING_UP),
        '',
        '503 `unavailable` at the control plane',
      ],
      [
        'exchanges of a server that the store has not told back yet',
        `${number(HELD.exchanges)}, or ${bytes(HELD.bytes)} of their bodies`,
        '',
        'the oldest show no rules and no impoliteness; everything else of them is counted',
      ],
      [
        'time in which a violation is explained by the server that has answered the request',
        milliseconds(EXPLAINING.patience),
        '',
        'the server that is asked explains it, as far as the store knows it',
      ],
      [
        'keys and accounts of which a server remembers the last requests',
        number(COMPARED_KEYS),
        '',
        'those that were used longest ago are compared with nothing, as if they were new',
      ],
      [
        'members of a group that are kept with a request',
        number(MEMBERS),
        '',
        'of more, only the first and those that the request removes',
      ],
    ],
  ],
  [
    'Journal, verdict and events',
    [
      [
        'requests of an account in the journal',
        number(SERVER_OPTIONS.journal.default),
        '`--journal`',
        'the oldest is forgotten',
      ],
      [
        'all entries of the journal',
        `${bytes(JOURNAL_LIMITS.total)}, at most ${percent(OF_JOURNAL)} of the memory`,
        '`--max-memory`',
        'the accounts that have most lose the states before their oldest requests, and then these requests; one line in the log, and a count in the metrics',
      ],
      ['body in the journal', bytes(JOURNAL_LIMITS.body), '', 'the rest is cut off; `truncated` says so'],
      ['problems of a request in the journal', number(JOURNAL_LIMITS.problems), '', 'the others are not listed'],
      ['violations that the verdict keeps whole', number(EXAMPLES), '', 'the others are counted'],
      ['changes of a request that an explanation lists', number(LISTED_CHANGES), '', 'the others are counted'],
      ['members of a group that came, or went, in such a change', number(LISTED_MEMBERS), '', 'the others are counted'],
      [
        'domains, and groups, of an account that the code to send a request again sets up as a whole',
        number(WHOLE),
        '',
        'only what the request names is set up; a comment says so',
      ],
      [
        'domains that it sets up of a larger account',
        number(PART),
        '',
        'members of larger groups are left out, and only the status is expected',
      ],
      ['streams of events', number(limits.eventStreams), '', '507 `insufficient_storage`'],
      [
        'events that wait for the readers of an account, or of all accounts',
        `${number(BACKLOG.events)} or ${bytes(BACKLOG.bytes)}`,
        '',
        'the slowest reader is cut off; it can resume with `Last-Event-ID`',
      ],
      ['events that wait for all readers', bytes(TOTAL), '', 'the slowest readers are cut off'],
      [
        'kinds of violations that a `ViolationError` of a test describes',
        number(DESCRIBED),
        '',
        'the others are counted',
      ],
      [
        'accounts of former tests that are remembered, so that late requests are not charged to other tests',
        number(FORMER),
        '',
        'the oldest is forgotten; nobody knows then which test has sent the request',
      ],
      [
        'requests that wait for a reader of `events()` of the library',
        `${number(WAITING.requests)} or ${bytes(WAITING.bytes)}`,
        '',
        'those that come then are lost; the reader gets a `ControlError` of the code `lost`',
      ],
      [
        'time for which `waitFor` of the library waits',
        `${seconds(WAIT.usual)}, at most ${seconds(WAIT.longest)}`,
        '`timeout` of the call',
        'a `ControlError` of the code `timeout`, with the nearest requests',
      ],
      ['time in which a reader of events takes nothing', seconds(HEARTBEAT * MISSED), '', 'it is cut off'],
    ],
  ],
  [
    'Control plane',
    [
      ['body of a request', bytes(limits.bodyLimit), '', '413 `request_too_large`; it is not read'],
      [
        `bodies of more than ${bytes(LARGE)} that are worked on`,
        number(LARGE_AT_ONCE),
        '',
        'the others wait and are not read',
      ],
      ['levels of a body', number(limits.nestingLimit), '', '400 `invalid_value`'],
      [
        'items of a page',
        `${number(limits.pageDefault)}, at most ${number(limits.pageLimit)}`,
        '`limit` of the request',
        '`next` leads to the next page',
      ],
      ['length of a page', `about ${bytes(limits.pageBytes)}`, '', 'the page ends earlier, with at least one item'],
      ['time in which a reader of a page takes nothing', seconds(PATIENCE), '', 'it is cut off'],
      ['days of `GET …/dmarc`', number(PERIOD), '', '400 `invalid_value`'],
      ['records of `GET …/dmarc`', number(limits.recordsLimit), '', '400 `invalid_value`'],
      [
        'days × domains of `GET …/overview`',
        number(limits.overviewRecords),
        '',
        'fewer days; `days_omitted` says how many are missing',
      ],
      ['domains that an overview names', number(NAMED), '', '`attention_count` says how many there are'],
      ['overviews that are kept', number(KEPT_OVERVIEWS), '', 'they are computed again'],
      ['domains that `domain` of `GET …/dmarc` names', number(limits.namedDomains), '', '400 `invalid_value`'],
      ['body that a fault rule answers', bytes(limits.answerLimit), '', '400 `invalid_value`'],
      ['delay of a fault rule', seconds(schema('FaultRule/properties/delay_ms/maximum')), '', '400 `invalid_value`'],
      [
        'header fields that a fault rule answers',
        `${number(schema('FaultRule/properties/respond/properties/headers/maxProperties'))} of ${number(schema('FaultRule/properties/respond/properties/headers/additionalProperties/maxLength'))} characters`,
        '',
        '400 `invalid_value`',
      ],
      [
        'any other text, list or object of a request',
        'in the [document](../src/admin/openapi.yaml) and in the schema of fixtures',
        '',
        '400',
      ],
    ],
  ],
  [
    'Data folder',
    [
      [
        'file of an account',
        bytes(LARGEST_FILE),
        '',
        'a start refuses it (exit code 3); a change that would exceed it is refused',
      ],
      ['memory of all kept accounts', 'what is for accounts', '`--max-memory`', 'the start is refused (exit code 3)'],
    ],
  ],
  [
    'Shared store',
    [
      ['URL of a store', `${number(LONGEST_URL)} characters`, '`--store`', 'wrong usage, exit code 2'],
      ['path of the socket of a store', `${number(LONGEST_SOCKET)} bytes`, '`--store`', 'wrong usage, exit code 2'],
      ['prefix of the keys of a store', '64 characters', '`--store-prefix`', 'wrong usage, exit code 2'],
      [
        'time for one step of the store, with everything that it waits for',
        milliseconds(DEADLINE),
        '',
        '500 `internal_error`, 503 `unavailable` at the control plane',
      ],
      [
        'the same, for what copies or reads a whole account',
        `${seconds(LARGE_DEADLINE)}; for a change, 1 ms more for each 20 parts of it`,
        '',
        'the same',
      ],
      [
        'time in which a request waits to learn whether the store is the one that it was',
        milliseconds(DOOR_PATIENCE),
        '',
        'it goes on, and is answered 500 if the store is still away',
      ],
      [
        'time between two looks at the store',
        milliseconds(BEAT_EVERY),
        '',
        '`/ready` tells what the last one has found',
      ],
      [
        'time for which a server that is heard of no more counts as running',
        seconds(LEASE),
        '',
        'another contract may take over the keys',
      ],
      ['time to connect at the start', seconds(CONNECTING), '', 'exit code 3'],
      ['time in which the start waits for a store that loads its data', milliseconds(LOADING), '', 'exit code 3'],
      ['time for one step of reading the journal at the start', seconds(STARTING), '', 'exit code 3'],
      [
        'numbers for requests of nobody that a server reserves ahead',
        number(BLOCK),
        '',
        'the next are reserved when half of them are used; while the store is away and none are left, ids are random',
      ],
      [
        'accounts that a start beyond loopback searches for keys that anybody can compute',
        number(SEARCHED),
        '',
        'the others are not looked at; without a shared store, all are',
      ],
      [
        'copies of accounts that a server keeps',
        'the memory without the share of the journal',
        '`--max-memory`',
        'those that were used longest ago are fetched again when they are needed',
      ],
    ],
  ],
  [
    'Reports',
    [
      [
        'findings',
        number(BOUNDS.findings),
        '',
        'the mildest are left out; the report says how many. The format `json` has all',
      ],
      ['checks', number(BOUNDS.checks), '', 'the last that passed are left out; the report says how many'],
      ['rows of a table', number(BOUNDS.rows), '', 'the last row says how many more there are'],
      [
        'body, command, or side of a comparison',
        `${number(BOUNDS.code)} characters`,
        '',
        'cut, with the number of the rest',
      ],
      ['any other text', `${number(BOUNDS.text)} characters`, '', 'cut, with the number of the rest'],
      [
        'findings in the summary on standard error',
        number(SUMMARISED),
        '`run --report html=FILE`',
        'the others are counted; on a terminal, those that do not fit the screen are a line each',
      ],
      ['report `markdown`', `${number(LONGEST_COMMENT)} characters`, '', 'the rest is left out, and counted'],
      ['summary of a step on GitHub Actions', bytes(LARGEST_SUMMARY), '', 'the rest is left out, and counted'],
      ['annotations of a step, of each level', number(ANNOTATIONS), '', 'the last notice counts the others'],
      [
        'name and description of a rule in `sarif`',
        `${number(LONGEST_NAME)}, ${number(LONGEST_DESCRIPTION)} characters`,
        '',
        'cut',
      ],
    ],
  ],
  [
    'What `vary` keeps and tells',
    [
      [
        'alternatives that one run of the command tries',
        number(LARGEST),
        '`--no-bundles`',
        'the others get another run',
      ],
      [
        'body that was refused unread, in its place when the request is answered again',
        bytes(LONGEST_FILLER),
        '',
        'every alternative counts as reached',
      ],
      ['time for a request that is answered again', seconds(UNANSWERED), '', 'every alternative counts as reached'],
      ['body of a response that differed', `${number(SHOWN)} characters`, '', 'the part around the first difference'],
      [
        'what a failing command wrote last',
        `${number(LINES)} lines, ${number(CHARACTERS)} characters`,
        '',
        'earlier lines are left out',
      ],
      ['names of failed tests', number(LISTED), '', 'the rest is left out'],
      [
        'time of a run',
        `${PATIENCE_OF_VARY.factor} times as long as by itself, and at least ${seconds(PATIENCE_OF_VARY.least)}`,
        '`vary --timeout`',
        `ended, and repeated with ${MORE_PATIENCE} times as much`,
      ],
    ],
  ],
  [
    'What `explore` does and tells',
    [
      [
        'time for all runs',
        USUAL_BUDGET,
        '`explore --budget`, `--runs`',
        'runs that go on are ended; the report says how many plans are left',
      ],
      [
        'time for one run',
        `${FACTOR} times as long as without faults and ${SPARE / 1000} s more`,
        '`explore --timeout`',
        `it is repeated with at least ${PATIENCE_OF_EXPLORE / 1000} s, and is a hang if it does not end then either`,
      ],
      [
        'requests of one run that are kept',
        number(EXCHANGES),
        '',
        'without faults: only exit codes are judged; with a fault: later requests are not looked at',
      ],
      ['requests of all runs that are kept', number(KEPT_REQUESTS), '', 'later runs are not looked at for pairs'],
      ['rules of a plan', number(limits.faultsPerAccount), '', 'refused'],
      ['file of a plan', bytes(LARGEST_PLAN), '', 'refused'],
      [
        'requests of a story before the first fault, after the last',
        `${BEFORE}, ${AFTER}`,
        '',
        'the others are counted',
      ],
      ['stories on standard error', number(STORIES), '`explore --report html=FILE`', 'the others are in the reports'],
      ['differences of effects that are told', number(DIFFERENCES), '', 'the last sentence counts the others'],
      ['earlier requests that a smaller plan is looked for at', number(EARLIER), '', 'the later ones are not tried'],
    ],
  ],
  [
    'What `verify` asks',
    [
      [
        'requests to a path in an hour',
        'the quota of the contract',
        '`verify --reserve`',
        'ends, or waits with `--wait`',
      ],
      ['time for a response', '30 s', '`verify --timeout`', 'the run ends, and the account is restored'],
      ['body of a response', bytes(LARGEST_RESPONSE), '', 'the run ends, and the account is restored'],
      ['header of a response', bytes(LARGEST_RESPONSE_HEADER), '', 'the run ends, and the account is restored'],
      ['requests that set up what a question needs', number(MOST_SET_UPS), '', 'it is not asked'],
      [
        'requests of a path kept for the cleanup beside those that it needs',
        number(SLACK),
        '',
        'nothing more is asked',
      ],
      [
        'domains that one request of the cleanup removes',
        number(REMOVED_AT_ONCE),
        '',
        'another request removes the others',
      ],
      ['windows in which nothing can be asked', number(FRUITLESS_WINDOWS), '', 'the run ends'],
      ['body of an exchange in a ledger', bytes(LARGEST_KEPT), '', 'it counts as unknown when the run is continued'],
      ['ledger', bytes(LARGEST_LEDGER), '', 'refused'],
    ],
  ],
  [
    'Recordings',
    [
      ['entry of a HAR file', bytes(ENTRY_LIMITS.bytes), '', 'it is left out, and named in the report'],
      ['levels of an entry', number(ENTRY_LIMITS.depth), '', 'it is left out, and named in the report'],
      ['body of an exchange', bytes(LARGEST_BODY), '', 'it counts as unknown'],
      ['exchanges of all files', number(MOST_EXCHANGES), '', 'the others are left out, and the check fails'],
      ['keys that are told apart', number(MOST_KEYS), '', 'who sent the request is unknown'],
      [
        'body in a recording that is written',
        bytes(WRITER_LIMITS.body),
        '',
        'cut, and marked; it is unknown when it is read',
      ],
      [
        'recording that is written',
        bytes(WRITER_LIMITS.file),
        '',
        'further exchanges are left out; the file says how many',
      ],
      [
        'exchanges that wait to be written',
        bytes(WRITER_LIMITS.waiting),
        '',
        'further ones are left out; the file says how many',
      ],
    ],
  ],
  [
    'The proxy',
    [
      [
        'connections of clients',
        number(PROXY_OPTIONS.maxConnections.default),
        '`proxy --max-connections`',
        'the connection is closed, and counted',
      ],
      ['time in which nothing is sent in either direction', seconds(IDLE), '', 'both connections are closed'],
      ['time for a connection to the service', seconds(CONNECT_PATIENCE), '', 'the connection of the client is closed'],
      [
        'time in which a client says nothing',
        `${SILENCE} ms`,
        '',
        'the connection to the service is opened nevertheless',
      ],
      [
        'time for requests that are under way at a stop',
        seconds(STOP_PATIENCE_OF_PROXY),
        '',
        'their connections are closed',
      ],
      ['header of a message', bytes(HEAD_LIMIT), '', 'passed on, and the connection is not followed any more'],
      [
        'requests of a connection without a response',
        number(PIPELINE_LIMIT),
        '',
        'passed on, and the connection is not followed any more',
      ],
      ['body that is judged', bytes(BODY_LIMIT), '', 'passed on; it counts as unknown'],
      ['the same without its content codings', bytes(DECODED_LIMIT), '', 'it counts as unknown'],
      ['content codings of a body', number(CODINGS_LIMIT), '', 'it counts as unknown'],
      ['bodies that are kept until they are judged', bytes(BODIES_LIMIT), '', 'further ones count as unknown'],
      [
        'exchanges that wait to be read',
        number(READING_LIMIT),
        '',
        'further ones are not judged; what was known is forgotten',
      ],
      [
        'exchanges that wait to be judged, and their bodies',
        `${number(JUDGING_LIMITS.exchanges)}, ${bytes(JUDGING_LIMITS.bytes)}`,
        '',
        'further ones are not judged; what was known is forgotten',
      ],
      [
        'time for which an exchange waits for one that began before it',
        seconds(ORDER_PATIENCE),
        '',
        'it is judged before the other; what was known is forgotten if that one may change something',
      ],
      [
        'time in which a change without a response may still be made',
        seconds(LOST_REQUEST),
        '',
        'what comes later counts as undisturbed',
      ],
      ['findings that are shown at once', number(SHOWN_LIVE), '', 'the others are in the summary'],
      ['time for what waits to be judged at a stop', seconds(JUDGING_PATIENCE), '', 'the rest is not judged'],
    ],
  ],
  [
    'Evidence',
    [
      ['evidence file', bytes(EVIDENCE_LIMITS.bytes), '', 'it is refused'],
      [
        'different observations in it',
        number(EVIDENCE_LIMITS.observations),
        '',
        'the first ones are written; `counts.omitted` says how many are not',
      ],
      ['combinations of an observation', number(EVIDENCE_LIMITS.combinations), '', 'it is left out and counted'],
      ['assumptions of an observation', number(EVIDENCE_LIMITS.assumptions), '', 'it is left out and counted'],
      ['findings in it', number(EVIDENCE_LIMITS.findings), '', 'the first ones are written; the others are counted'],
      ['messages of a code in it', number(EVIDENCE_LIMITS.messages), '', 'the first ones are written'],
      ['text in it', `${number(EVIDENCE_LIMITS.text)} characters`, '', 'shortened'],
      ['exchanges that an observation names', number(EVIDENCE_KEPT), '', 'the first ones; the others are counted'],
      ['values tried in a search for a verdict', number(TRIES), '', 'what was not excluded until then is undecided'],
      [
        'findings of a baseline',
        `${number(LARGEST_BASELINE.findings)}, ${bytes(LARGEST_BASELINE.bytes)}`,
        '',
        'the file is refused',
      ],
      ['dependencies file', bytes(LARGEST_DEPENDENCIES), '', 'it is refused'],
    ],
  ],
]

function table(rows: readonly Row[]): string {
  const lines = [['limit', 'default', 'option', 'what happens at it'], ['---', '---', '---', '---'], ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
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
