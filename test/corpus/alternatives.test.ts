import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { openUnderstudy } from '../../src/server/understudy.ts'
import { alternatives, contractWith } from '../support/alternatives.ts'
import type { Received } from '../support/request.ts'
import { ROWS, type Row } from './corpus.ts'
import { play } from './play.ts'
import { OPTIONS, overPort } from './surfaces.ts'

/** What is open about every answer, or about every answer of an operation; each is chosen alone. Few rows name it. */
const GENERAL = [
  ...['request-id-format', 'www-authenticate', 'decimals', 'percentages'],
  ...['quota-window', 'rate-limit-reset', 'quota-headers', 'charged-requests', 'retry-after'],
  ...['add-domains-status', 'delete-domains-status', 'create-group-status', 'update-group-response'],
  // No fixture has ids in another form.
  'group-id-format',
]
/** Header fields that a choice is about. */
const FIELDS = [
  ...['allow', 'www-authenticate', 'retry-after', 'content-type', 'access-control-allow-origin'],
  ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
]

/** An alternative of an assumption, and the rows that it can change. */
interface Choice {
  name: string
  id: string
  rows: readonly Row[]
}

const CHOICES = alternatives.map(([id, number, { place }]): Choice => {
  const [, code] = /^\/x-errors\/(\w+)/.exec(place) ?? []
  const rows = ROWS.filter(
    ({ open, answer, isRepeated }) => !isRepeated && (code === undefined ? open.includes(id) : answer.code === code),
  )
  return { name: `${id}-${number}`, id, rows: code === undefined ? rows : oneOfEachReason(rows) }
})

/** One row for each reason of a refusal, which has one status: its message begins alike, but for names and values. */
function oneOfEachReason(rows: readonly Row[]): Row[] {
  const reasonOf = ({ answer: { message = '' } }: Row) =>
    message
      .replaceAll(/`.*?`|".*?"/g, '')
      .split(' ', 3)
      .join(' ')
  return [...new Map(rows.toReversed().map((row) => [reasonOf(row), row])).values()].toReversed()
}

/** Alternatives that can be chosen together, because no row shows two of them: fewer contracts are compiled. */
function groupChoices(): Choice[][] {
  const groups: Choice[][] = []
  for (const choice of CHOICES) {
    const meets = (other: Choice) =>
      other.id === choice.id || GENERAL.includes(choice.id) || other.rows.some((row) => choice.rows.includes(row))
    const group = groups.find((each) => !each.some((other) => GENERAL.includes(other.id) || meets(other)))
    if (group === undefined) groups.push([choice])
    else group.push(choice)
  }
  return groups
}

/** The answers to all rows of some choices, where these are made. */
async function answersTo(shown: readonly Choice[], made: readonly Choice[]): Promise<Map<Row, Shown>> {
  const contract = await contractWith(...made.map(({ name }) => name))
  const surface = overPort(await openUnderstudy(OPTIONS, OPERATIONS, { contract }))
  const answers = new Map<Row, Shown>()
  for (const row of new Set(shown.flatMap(({ rows }) => rows))) {
    answers.set(row, show((await play(surface, row)).received))
  }
  await surface.stop()
  return answers
}

type Shown = Readonly<Record<string, unknown>>

function show({ status, headers, body, text }: Received): Shown {
  const { success: _, error, data = text } = body ?? {}
  const fields = FIELDS.map((name) => [name, headers[name] ?? null])
  return {
    answer: error === undefined ? `${status}` : `${status} ${error.code}`,
    ...(error === undefined ? { data } : { message: error.message }),
    // How figures are written is not in what they are.
    written: [...text.matchAll(/"(?:dmarc|dkim|spf)":([\d.]+)/g)].map(([, figure]) => figure).join(' '),
    ...Object.fromEntries(fields),
    'x-request-id': headers['x-request-id']?.replaceAll(/[0-9a-f]/g, '0'),
  }
}

/** What is other than as chosen; `undefined` if nothing is. Beside another outcome, only header fields are told. */
function differenceOf(row: Row, as: Shown, chosen: Shown): Shown | undefined {
  const isOther = as['answer'] !== chosen['answer']
  const differing = Object.entries(as).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(chosen[name]) && !(isOther && name === 'message'),
  )
  if (differing.length === 0) return undefined
  const { data, ...others } = Object.fromEntries(differing)
  if (data === undefined) return others
  return { ...others, data: row.answer.records === undefined ? data : describeRecord(data, chosen['data']) }
}

/** The first record that differs, of which the other fields are left out; or how many there are. */
function describeRecord(data: unknown, chosen: unknown): unknown {
  const [records, former] = [data, chosen] as Record<string, unknown>[][]
  if (records?.length !== former?.length) return `${records?.length ?? 0} records`
  const index = records?.findIndex((record, at) => JSON.stringify(record) !== JSON.stringify(former?.[at])) ?? 0
  return Object.fromEntries(
    Object.entries(records?.[index] ?? {}).filter(([name, value]) => value !== former?.[index]?.[name]),
  )
}

describe('another choice where the specification is silent', () => {
  it('gives the answers of the snapshot, and there is a row that shows it', async () => {
    const chosen = await answersTo(CHOICES, [])
    const changed: Record<string, Record<string, Shown>> = {}
    for (const group of groupChoices()) {
      const answers = await answersTo(group, group)
      for (const { name, rows } of group) {
        const differences = rows.flatMap((row) => {
          const difference = differenceOf(row, answers.get(row) ?? {}, chosen.get(row) ?? {})
          return difference === undefined ? [] : [[row.id, difference] as const]
        })
        changed[name] = Object.fromEntries(differences)
      }
    }
    expect(Object.keys(changed).filter((name) => Object.keys(changed[name] ?? {}).length === 0)).toEqual([])
    // A row that names an assumption shows at least one of its alternatives.
    for (const { id, open } of ROWS.filter(({ isRepeated }) => !isRepeated)) {
      const hidden = open.filter((each) => !CHOICES.some((choice) => choice.id === each && changed[choice.name]?.[id]))
      expect(hidden, id).toEqual([])
    }
    await expect(write(changed)).toMatchFileSnapshot('alternatives.json')
  })
})

/** JSON with one line for each alternative and row, in the order of the names. */
function write(changed: Record<string, Record<string, Shown>>): string {
  const lines = Object.entries(changed).flatMap(([name, rows]) =>
    Object.entries(rows).map(([id, shown]) => `  ${JSON.stringify(`${name}, ${id}`)}: ${JSON.stringify(shown)}`),
  )
  return `{\n${lines.sort().join(',\n')}\n}\n`
}
