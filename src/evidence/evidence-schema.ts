import { EVIDENCE_KEPT } from '../choices/observation.ts'
import type { Json } from '../ground/json.ts'
import { LABELS } from '../judge/finding.ts'

/** The limits of an evidence file. Texts are in characters. */
export const EVIDENCE_LIMITS = {
  bytes: 64 << 20,
  observations: 50_000,
  combinations: 10_000,
  assumptions: 40,
  findings: 5_000,
  kinds: 10_000,
  codes: 200,
  messages: 50,
  overlays: 50,
  text: 2_000,
}

export const FORMAT = 'dmarc-understudy evidence'
/** The version of the format. A newer version may have content that this program does not know. */
export const FORMAT_VERSION = 1

const { text: longest } = EVIDENCE_LIMITS
const text = (description: string): Json => ({ type: 'string', maxLength: longest, description })
const name = (description: string): Json => ({ type: 'string', minLength: 1, maxLength: longest, description })
const count = (description: string): Json => ({ type: 'integer', minimum: 0, description })
const number = (description: string): Json => ({ type: 'integer', minimum: 0, maximum: 30, description })
const time = (description: string): Json => ({ type: 'string', format: 'date-time', description })
/** An object with these fields and no others. A question mark at the end of a name says that the field may be absent. */
const record = (fields: Json, description?: string): Json => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(fields).filter((each) => !each.endsWith('?')),
  ...(description !== undefined && { description }),
  properties: Object.fromEntries(Object.entries(fields).map(([each, schema]) => [each.replace('?', ''), schema])),
})
const list = (most: number, items: Json, description?: string): Json => ({
  ...{ type: 'array', maxItems: most, items },
  ...(description !== undefined && { description }),
})
/** Names that are not properties of every object. */
const ids: Json = { pattern: '^[a-z][a-z0-9-]*$', maxLength: 100, title: 'the id of an assumption' }
const requestIds = (most: number, description: string): Json =>
  list(most, text('The X-Request-Id of a response, or its place in a recording.'), description)

const observation = record({
  allows: {
    type: 'array',
    minItems: 1,
    maxItems: EVIDENCE_LIMITS.combinations,
    description:
      'The service behaves as one of these combinations says: the number of an alternative by the id of its assumption, where 0 is the choice of openapi.yaml.',
    items: {
      type: 'object',
      minProperties: 1,
      maxProperties: EVIDENCE_LIMITS.assumptions,
      propertyNames: ids,
      additionalProperties: number('The number of the alternative.'),
    },
  },
  evidence: requestIds(EVIDENCE_KEPT, 'The first exchanges that show it.'),
  count: { type: 'integer', minimum: 1, description: 'How many exchanges show it.' },
})

const finding = record({
  id: name('The same for the same difference in every run. A baseline names it.'),
  label: { enum: LABELS, description: 'What the difference means.' },
  'rule?': name('The `x-rule` that was not kept.'),
  'assumption?': name('The id of the assumption that it decides.'),
  'alternative?': { type: 'integer', minimum: 1, maximum: 30, description: 'The number of its alternative.' },
  'request_id?': text('The X-Request-Id of the response, or its place in a recording.'),
  method: text('The method of the request.'),
  path: text('Below the base path, with the query.'),
  'status?': { type: 'integer', minimum: 0, maximum: 999, description: 'Absent where no response came.' },
  'pointer?': name('Where openapi.yaml says what is expected.'),
  'line?': { type: 'integer', minimum: 1, description: 'The line of it.' },
  message: text('What is different, in one or two sentences.'),
  'overlay?': text('Only with `another choice`: what an overlay would have to say.'),
})

/** The schema of a verdict about one assumption. */
const VERDICT_SCHEMA = record({
  id: name('The id of the assumption.'),
  verdict: {
    enum: ['as chosen', 'alternative', 'contradicted', 'undecided'],
    description: 'What all observations say together.',
  },
  'alternative?': { type: 'integer', minimum: 1, maximum: 30, description: 'Only with the verdict `alternative`.' },
  evidence: requestIds(100, 'Exchanges that show it; with `contradicted`, of both sides.'),
  'left?': list(
    31,
    number('The number of an alternative, 0 for the choice of openapi.yaml.'),
    'What is still possible; only with `undecided`, where something is excluded.',
  ),
})

/**
 * The schema of an evidence file. It has no field for a header or a body. Only the path of a finding can have a query.
 */
export const EVIDENCE_SCHEMA = record({
  format: { const: FORMAT },
  format_version: { type: 'integer', minimum: 1, description: 'The version of the format.' },
  tool: {
    enum: ['check', 'proxy', 'verify', 'calibrate'],
    description: 'The command that has made the evidence, or has put it together.',
  },
  written_at: time('When the file was written.'),
  contract: record(
    {
      digest: {
        type: 'string',
        pattern: '^[0-9a-f]{64}$',
        description: 'SHA-256 of openapi.yaml with all overlays, apart from what is only for readers.',
      },
      overlays: list(EVIDENCE_LIMITS.overlays, name('The name of the file of an overlay.')),
    },
    'The contract by which the exchanges were judged. The numbers of alternatives belong to it.',
  ),
  'targets?': list(
    100,
    name('The origin of the service, without credentials and path.'),
    'The services that were seen, as far as that is known.',
  ),
  counts: record({
    exchanges: count('How many exchanges were seen.'),
    judged: count('Of how many the behaviour could be judged.'),
    findings: {
      type: 'object',
      maxProperties: EVIDENCE_LIMITS.kinds,
      propertyNames: { maxLength: longest, title: 'the id of a finding' },
      additionalProperties: count('How often the finding was made.'),
      description: 'How many findings there were of each id.',
    },
    'omitted?': {
      type: 'object',
      additionalProperties: false,
      properties: {
        observations: count('How many observations had no room here.'),
        findings: count('How many findings had no room here.'),
      },
      description: 'What had no room in the file.',
    },
  }),
  observations: list(EVIDENCE_LIMITS.observations, observation),
  findings: list(EVIDENCE_LIMITS.findings, finding, 'The first ones of each id.'),
  messages: {
    type: 'object',
    maxProperties: EVIDENCE_LIMITS.codes,
    // A service can send any text as a code.
    propertyNames: { maxLength: longest, title: 'an error code or an operationId' },
    additionalProperties: list(EVIDENCE_LIMITS.messages, text('A message.')),
    description: 'The messages of responses, by error code or, for a success, by operationId.',
  },
  verdicts: list(
    1000,
    VERDICT_SCHEMA,
    'What the observations say of every assumption. Readers of this program work it out again.',
  ),
})
