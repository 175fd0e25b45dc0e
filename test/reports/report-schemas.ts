import { loadControlApi } from '../../src/admin/document.ts'
import { LABELS } from '../../src/conformance/finding.ts'
import { BASELINE_SCHEMA } from '../../src/evidence/baseline.ts'
import { EVIDENCE_SCHEMA, VERDICT_SCHEMA } from '../../src/evidence/evidence-schema.ts'
import { RISK_RESULTS } from '../../src/evidence/risks.ts'
import { isObject, type Json, valueAt } from '../../src/ground/json.ts'
import { CHECK_OUTCOMES } from '../../src/verify/assessment.ts'

const control = (await loadControlApi()).document.source

/** A schema of the control plane, by its name. */
const shared = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const text = (description: string, more: Json = {}) => ({ type: 'string', description, ...more })
const count = (description: string, minimum = 0) => ({ type: 'integer', minimum, description })
const list = (items: Json, description?: string) => ({
  type: 'array',
  items,
  ...(description !== undefined && { description }),
})

/** An object with these fields and no others. A question mark at the end of a name says that the field may be absent. */
const object = (fields: Json): Json => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(fields).filter((name) => !name.endsWith('?')),
  properties: Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name.replace('?', ''), schema])),
})
const described = (description: string, fields: Json): Json => ({ type: 'object', description, ...object(fields) })
const report = (title: string, fields: Json): Json => ({ title, ...object(fields) })
const objects = (description: string, fields: Json): Json => list(object(fields), description)

const word = { type: 'string' }
const command = { type: 'array', minItems: 1, items: word, description: 'The command of the user, word by word.' }
const request = { request_id: word, method: word, path: word }
const statusCode = (description?: string) => ({
  ...{ type: 'integer', minimum: 100, maximum: 599 },
  ...(description !== undefined && { description }),
})
const seconds = { type: 'number', minimum: 0, description: 'How long it took.' }
const exitCode = (description: string) => ({ type: 'integer', minimum: 0, maximum: 255, description })

const response = object({
  'status?': statusCode('Absent where no response was sent.'),
  'headers?': { type: 'object', additionalProperties: word, description: 'The header fields that differ.' },
  'body?': text('The body, shortened. Absent where it does not differ.'),
})

const alternative = object({
  id: text('The id of the assumption.'),
  alternative: count('The number of the alternative, as `assumptions overlay ID N` takes it.', 1),
  verdict: text(
    '`depends`: the command fails with it. `tolerates`: it does not. `not reached`: no response is different with it. `flaky`: sometimes it fails. `inconclusive`: that could not be decided.',
    { enum: ['depends', 'tolerates', 'not reached', 'flaky', 'inconclusive'] },
  ),
  spec: text('What the specification leaves open.'),
  chosen: { description: 'What openapi.yaml chooses.' },
  value: { description: 'What the alternative chooses.' },
  'accepted?': { const: true, description: 'The user has listed it with --accept.' },
  'reason?': text('Why it was not decided, or not reached although it was tried.'),
  'first_difference?': described('The first response that is different with the alternative.', {
    request: object({ ...request, 'body?': word }),
    expected: response,
    received: response,
    'body_difference?': text('The first difference between the bodies, in words.'),
  }),
  'exit_code?': exitCode('What the command ended with, where it failed.'),
  'signal?': text('The signal that ended the command.'),
  'timed_out?': { const: true },
  'tests?': list(word, 'The names of the tests that failed, as far as the output tells them.'),
  'output?': text('The last lines that the command wrote.'),
  'seconds?': seconds,
  'fingerprint?': text('What was different in the requests that reached it. `--since FILE` compares it.'),
})

const plan = list(shared('FaultRule'), 'The fault rules, as `explore --replay` takes them.')
const operation = text('The operation that the last of the faults meets.')
const failures = ['wrong success', 'false failure', 'hang', 'crash', 'storm']
const verdict = { enum: failures, description: 'What became of the command.' }

const broken = object({ plan, operation, verdict })

const windowLength = (description: string): Json => ({ type: 'number', exclusiveMinimum: 0, description })

const storyLine = {
  oneOf: [
    object({
      method: word,
      path: word,
      status: { type: ['integer', 'null'], description: 'Null where nothing was answered.' },
      'about?': text('What the request is about, by name.'),
      'code?': word,
      'times?': count('How often it came in a row, if more than once.', 2),
      'changed?': { const: true, description: 'The service made a change, and the client was not told so.' },
      'fault?': text('What the fault did, in a sentence.'),
    }),
    object({ omitted: count('How many requests are left out here.', 1) }),
  ],
}

const turns = objects('Whose requests come in which order, as `explore --beside --replay` takes it.', {
  command: { enum: [1, 2] },
  'thread?': count('Which of the requests that the command has under way.', 1),
  'requests?': count('How many requests; absent in the last turn, which goes on until the end.', 1),
})
const brokenOrder = object({
  plan: turns,
  verdict: { enum: ['lost update', 'wrong success', 'false failure', 'hang'] },
})

const requestIds = list(word, 'The ids of some exchanges that show it.')

const assumption = object({
  id: text('The id of the assumption.'),
  verdict: text(
    '`as chosen`: the service does as the stand-in. `alternative`: it has chosen an alternative. `contradicted`: it has shown both. `undecided`: what was seen does not tell.',
    { enum: ['as chosen', 'alternative', 'contradicted', 'undecided'] },
  ),
  evidence: requestIds,
  'alternative?': count('Which alternative, with the verdict `alternative`.', 1),
  'left?': list(
    count('0 stands for the choice of the stand-in.'),
    'The numbers that are still possible, where some are excluded.',
  ),
})

const finding = object({
  id: text('The same for the same difference in every run. A baseline names it.'),
  label: text('What the difference means.', { enum: [...LABELS] }),
  method: word,
  path: text('Below the base path, with the query.'),
  message: text('What is wrong, in one or two sentences.'),
  'rule?': text('The id of the rule of the contract that was broken.'),
  'assumption?': text('The id of the assumption that it decides.'),
  'alternative?': count('The number of its alternative.', 1),
  'request_id?': text('The id of the first exchange.'),
  'by?': text('Who did it, where something is wrong: the client, where the request breaks the contract.', {
    enum: ['client', 'service'],
  }),
  'status?': { ...statusCode(), maximum: 999 },
  'asked?': text('The beginning of the body of the request.'),
  'answered?': text('The beginning of the body of the response.'),
  'overlay?': text('With `another choice`: what an overlay would have to say.'),
  'pointer?': text('Where openapi.yaml says what is expected.'),
  'line?': count('The line of openapi.yaml.', 1),
  'count?': count('How often it was found, if more than once.', 2),
  'accepted?': text('Why it does not count: the reason in the baseline.'),
})

const probe = object({
  requests: objects('In this order. `GROUP`, `OTHER` and `CREATED` stand for the ids of groups, `KEY` for the key.', {
    method: word,
    path: text('Below the base URL, with the query.'),
    'headers?': {
      type: 'object',
      additionalProperties: { type: ['string', 'null'] },
      description: 'Header fields beside those of every request; null takes one away.',
    },
    'body?': { description: 'Sent as JSON; a text is sent as it is.' },
    'pad_to?': count('Spaces follow the body until it has so many bytes.'),
    'times?': count('How often it is sent, if more than once.', 2),
  }),
  look: text('What tells the choices apart.'),
  'given?': text('What the account needs for it.'),
})

const { id, evidence, verdict: seen, alternative: chosen, left } = VERDICT_SCHEMA['properties'] as Json
/** An assumption with what was seen of it, and what would show more. */
const calibrated = object({
  id,
  verdict: seen,
  evidence,
  'alternative?': chosen,
  'left?': left,
  'unobservable?': text('Why exchanges cannot decide it.'),
  'decide_with?': { ...probe, description: 'What would decide it.' },
})
const risk = object({
  id: text('The id of the assumption.'),
  result: text(
    '`contradicted`: the service was seen to do that with which the client fails. `unknown`: what the service does is not decided, or whether the client works with it is not. `confirmed`: the client works with what the service does, or with everything that it may do.',
    { enum: RISK_RESULTS },
  ),
  spec: text('What the specification leaves open.'),
  reason: text('Why the result is what it is.'),
  service: described('What the service was seen to do.', {
    verdict: seen,
    evidence,
    'alternative?': chosen,
    'left?': left,
  }),
  clients: objects(
    'How clients get along with the alternatives that the service may have chosen, where that is not well.',
    {
      alternative: count('The number of the alternative.', 1),
      verdict: {
        enum: ['depends', 'flaky', 'inconclusive', 'not tried'],
        description: 'What vary says, or that it says nothing.',
      },
      command: text('The client.'),
      'reason?': text('Why it was not decided.'),
      'request?': described('The first request that was answered differently.', request),
    },
  ),
  'decide_with?': { ...probe, description: 'What would show which choice the service has made.' },
})

const SCHEMAS = {
  run: report('The report of dmarc-understudy run', {
    command,
    exit_code: exitCode('What `run` ended with: the exit code of the command if that failed.'),
    seconds,
    verdict: shared('Verdict'),
    coverage: shared('Coverage'),
  }),
  check: report('The report of dmarc-understudy check and of dmarc-understudy proxy', {
    exchanges: count('How many requests went to the service.'),
    judged: count('Of how many of them the behaviour could be judged.'),
    findings: list(finding, 'Each difference once.'),
    assumptions: list(assumption),
    'failures?': list(word, 'What is missing, so that the result is not green, in sentences.'),
    'untold?': objects('What the exchanges do not tell, the most frequent reason first.', {
      reason: text('Why, in a sentence.'),
      times: count('How often.', 1),
      remedy: text('What would let it be told: an option, or how to record.'),
    }),
    'warnings?': list(word, 'What could not be read, in sentences.'),
  }),
  verify: report('The report of dmarc-understudy verify', {
    target: text('The base URL of the service.'),
    passed: { type: 'boolean', description: 'Whether the command ended with 0.' },
    outcomes: described(
      'How many checks have each outcome.',
      Object.fromEntries(CHECK_OUTCOMES.map((outcome) => [outcome, { type: 'integer', minimum: 0 }])),
    ),
    checks: list(
      object({
        id: text(
          '`rule/ID`, `assumption/ID`, `operation/ID`, `restoration`, the id of a finding, which a baseline names, or `target` if nothing could be asked.',
        ),
        outcome: text(
          '`not reached`: it was not asked. `undecidable`: the answers, or no answers, can show it. `baselined`: the finding is known.',
          { enum: [...CHECK_OUTCOMES] },
        ),
        'rule?': text('The id of the rule of the contract.'),
        'message?': text('Why it is so.'),
        'curl?': text('The request, for a POSIX shell. The key is in the variable API_KEY.'),
        'expected?': text('What is expected.'),
        'received?': text('What was answered, shortened, or which alternative the service has chosen.'),
      }),
    ),
    assumptions: list(assumption),
    quota: list(
      object({
        path: word,
        limit: count('What the contract allows in a window.'),
        sent: count('How many requests this run has sent.'),
        'remaining?': count('What the last response said is left, for all clients together.'),
        'resets_in?': count('Seconds until the window ends.'),
      }),
    ),
    cleanup: object({
      restored: {
        type: 'boolean',
        description: 'Whether two lists show that nothing of the run is left and everything else is as before.',
      },
      removed: object({ domains: count('How many.'), groups: count('How many.') }),
      left: described('What of the run is still there.', { domains: list(word), groups: list(word) }),
      changes: list(word, 'Other differences from the account before the run, in sentences.'),
      'reason?': text('Why it is not restored, or why that is not known.'),
    }),
  }),
  evidence: { title: 'The evidence file of dmarc-understudy', ...EVIDENCE_SCHEMA },
  baseline: { title: 'The baseline file of dmarc-understudy: known findings that do not count', ...BASELINE_SCHEMA },
  calibration: report('The report of dmarc-understudy calibrate', {
    targets: list(word, 'The origins of the services that were seen.'),
    exchanges: count('How many exchanges were seen.'),
    judged: count('Of how many the behaviour could be judged.'),
    assumptions: list(calibrated, 'Every assumption, in the order of openapi.yaml.'),
    messages: list(
      object({ of: text('An error code, or an operationId.'), template: text('The message, with placeholders.') }),
      'The texts that the overlay has.',
    ),
    'warnings?': list(word, 'What is missing, in sentences.'),
  }),
  risks: report('The report of dmarc-understudy assumptions with evidence and dependencies', {
    targets: list(word, 'The origins of the services that were seen.'),
    commands: list(command, 'The clients.'),
    risks: list(risk, 'Every assumption that has an alternative, in the order of openapi.yaml.'),
    'warnings?': list(word, 'What does not fit together in the joined files, in sentences.'),
  }),
  dependencies: report('The dependencies file: the report of dmarc-understudy vary', {
    command,
    baseline: described('How the command ran without any alternative.', {
      exit_code: exitCode('What the command ended with.'),
      seconds,
      requests: count('How many requests it sent.'),
      steady: { type: 'boolean', description: 'Whether two runs had the same result and sent the same requests.' },
    }),
    runs: count('How often the command was started, the runs without an alternative included.', 1),
    alternatives: list(alternative),
  }),
  explore: report('The report of dmarc-understudy explore', {
    command,
    passed: {
      type: 'boolean',
      description:
        'Whether nothing was found, and enough was tried: the first two tiers, or all of them if the command changes nothing.',
    },
    inconclusive: { type: 'boolean', description: 'Whether nothing was found, but too little was tried for a result.' },
    points: count('How many requests of the baseline a fault can meet.'),
    runs: count('How often the command was started, the baselines included.', 1),
    tiers: objects('How much of each tier was tried. Each kind of request, by operation and names, counts once.', {
      tier: count('1: lost responses of writes; 2: refusals of writes by the account; 3: 429; 4: the rest.', 1),
      of: count('How many faults the tier has.'),
      tried: count('How many of them were tried.'),
    }),
    tolerated: count('How many plans the command survived.'),
    gave_up: list(object({ plan, operation }), 'Where the command failed, and said so.'),
    findings: objects('The smallest plans that break the command, one for each weakness.', {
      id: text('The same for the same weakness at the same operations in every run. A baseline names it.'),
      verdict,
      plan,
      operation,
      places: objects('The requests at which the command has this weakness.', {
        operation: word,
        'about?': text('What the request is about, by name.'),
        faults: list(word, 'What showed it there, as clauses.'),
      }),
      story: list(storyLine, 'The requests around the faults.'),
      'output?': text('The last lines that the command printed, if it printed any.'),
      'tests?': list(word, 'The names of the tests that failed, where the output tells them.'),
      replay: text('A line for a POSIX shell that runs the command with the plan.'),
      'reasons?': list(word, 'What is other than it should be, in sentences.'),
      'window?': windowLength('How long the quota window was, if not 2 s, in seconds.'),
      'accepted?': text('Why it does not count: the reason in the baseline.'),
    }),
    'flaky?': list(broken, 'Plans that broke the command once, and not again.'),
    'unconfirmed?': list(broken, 'Plans that broke the command and were not repeated, because the budget was over.'),
    'never_applied?': list(shared('FaultRule'), 'The rules of a replayed plan that met no request.'),
    'unmet?': count('How many plans had a fault that met no request, or changed nothing.'),
    'left?': count('How many plans were left when the budget was over.'),
    'scaled_window?': windowLength('How long a shortened quota window was, in seconds.'),
    'stable_effects?': { type: 'boolean', description: 'Whether runs without a fault have the same effects.' },
    'interrupted?': { type: 'boolean', description: 'Whether it was told to stop before the end.' },
  }),
  'explore-beside': report('The report of dmarc-understudy explore --beside', {
    command,
    beside: text('The other command, as a line for a shell.'),
    passed: {
      type: 'boolean',
      description: 'Whether all orders up to the bound were tried, and none broke the commands.',
    },
    inconclusive: { type: 'boolean', description: 'Whether nothing was found, and not everything was tried.' },
    runs: count('How often both commands were started, the serial orders included.', 1),
    stable_effects: { type: 'boolean', description: 'Whether two runs in the same order left the same account.' },
    interrupted: { type: 'boolean', description: 'Whether it was told to stop before the end.' },
    findings: objects('For each way in which the commands break each other, the order with the fewest switches.', {
      id: text('The same for the same plan and verdict in every run.'),
      verdict: { enum: ['lost update', 'wrong success', 'false failure', 'hang', 'gave up'] },
      plan: turns,
      switches: count('How often the turn goes to the other command before the one under way has ended.'),
      overtakings: count('How often the turn goes to another thread of a command, while the last one has a request.'),
      operation: text('The operation of the first request after the last change of the turn.'),
      reasons: list(word, 'What is other than it should be, in sentences.'),
      others: count('How many other orders broke the commands in the same way.'),
      story: objects('The requests of both commands in their order.', {
        command: { enum: [1, 2] },
        'thread?': count('Which of the requests that the command has under way; absent if it has only one.', 1),
        method: word,
        path: word,
        'about?': text('What the request is about, by name.'),
        status: { type: ['integer', 'null'], description: 'Null where nothing was answered.' },
        'code?': word,
        'times?': count('How often it came, if more than once.', 2),
      }),
      output: { ...list(word, 'The last lines that each command wrote.'), minItems: 2, maxItems: 2 },
      replay: text('A line for a POSIX shell that runs the commands in this order.'),
    }),
    gave_up: list(object({ plan: turns }), 'Orders in which a command failed, and said so.'),
    'interleavings?': described('How many orders there are. Absent in the report of a replay.', {
      possible: count('All orders of the requests of both, at most 2⁵³ − 1.'),
      tried: count('Those that were run.'),
      equivalent: count('Those that were not run, because they cannot differ from one that was.'),
    }),
    'levels?': objects(
      'The orders with so many switches: how many there are, and how many were tried or cannot differ.',
      {
        switches: count('Changes of the thread are counted, too.'),
        of: count('Those that were considered.'),
        tried: count('Those that were run, or cannot differ from one that was.'),
      },
    ),
    'flaky?': list(brokenOrder, 'Orders that broke the commands once, and not again.'),
    'unconfirmed?': list(
      brokenOrder,
      'Orders that broke the commands and were not repeated, because the budget was over.',
    ),
    'unjudged?': count('How many orders could not be judged, because a command gave up a request that was held.'),
    'left?': count('How many orders were left when the budget was over.'),
    'steady?': { type: 'boolean', description: 'Whether the commands send the same requests after the same answers.' },
    'followed?': { type: 'boolean', description: 'Whether the requests came in the order of the replayed plan.' },
  }),
}

/** The JSON reports that have a schema in `docs/schemas`. */
export type ReportName = keyof typeof SCHEMAS
export const REPORT_NAMES = Object.keys(SCHEMAS) as ReportName[]

/** The schema of a report, which needs no other document: what the control plane says of a part is among its `$defs`. */
export function schemaOf(name: ReportName): Json {
  const defs: Json = {}
  function take(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(take)
    if (!isObject(value)) return value
    const { $ref: reference, ...rest } = value
    // What has a meaning for our loader alone means nothing to other readers.
    const known = Object.entries(rest).filter(([key]) => !key.startsWith('x-'))
    const copy = Object.fromEntries(known.map(([key, item]) => [key, take(item)]))
    if (typeof reference !== 'string') return copy
    const target = reference.split('/').at(-1) ?? ''
    if (!Object.hasOwn(defs, target)) {
      // Before it is read, because a schema may refer to itself.
      defs[target] = true
      defs[target] = take(valueAt(control, reference.slice(1)))
    }
    return { ...copy, $ref: `#/$defs/${target}` }
  }
  const schema = take(SCHEMAS[name]) as Json
  const named = Object.keys(defs).toSorted()
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...schema,
    ...(named.length > 0 && { $defs: Object.fromEntries(named.map((key) => [key, defs[key]])) }),
  }
}
