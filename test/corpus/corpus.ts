import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { CORE_SCHEMA, defineScalarTag, load } from 'js-yaml'

/** A request in the words of the corpus. */
export interface Sent {
  /** Method and target: below the base URL, or from the root of the server where it begins with `//`. */
  send: string
  /** Whose key the request carries; by default, the one that every account has. */
  key?: 'none' | 'unknown' | 'second' | 'disabled' | 'new' | 'bearer'
  headers?: Record<string, string | null>
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is. */
  text?: string
  /** The same for bytes that are no text. */
  base64?: string
}

/** How the account is before the request. */
interface Given {
  /** A fixture in place of the ordinary account. */
  account?: Record<string, unknown>
  plan?: string
  /** Where the clock of the account stands. */
  clock?: string
  /** They are sent first. */
  requests?: Sent[]
  /** What is left of quotas then. */
  left?: Record<string, number>
  /** For so long the clock moves on at last. */
  after?: string
}

interface Answer {
  status: number
  code?: string
  message?: string
  /** The whole data of a success; absent where it is figures. */
  data?: unknown
  /** Of each record of figures, the domain and its policy. */
  records?: string[]
  /** Some header fields; `null` where there is none. */
  headers?: Record<string, string | null>
}

/** What is right for a request, and why. */
export interface Row extends Sent {
  /** The file and the name of the row, which no other row has. */
  id: string
  /** The sentence of the specification that the row is about. */
  spec: string
  /** Whether a row before it says the same about another operation. */
  isRepeated: boolean
  given: Given
  answer: Answer
  /** The rules of the contract that decide. */
  rules: string[]
  /**
   * The assumptions of which another choice gives another answer, but for those about the status of a code. What is open about
   * every answer, such as its header, is named by few rows.
   */
  open: string[]
  /**
   * The request that is accepted instead: method, path and body. `{new}` is the id of a group that has to be created first.
   */
  corrected?: string
  /** How many problems the request has besides the one that is answered, where the row is about that. */
  others?: number
  /** What the correction says of its changes, where the row is about that. */
  changes?: string[]
}

type WrittenRow = Partial<Row> & { when: string }
interface Section {
  spec: string
  /** The operations that each row is about, with the request that they accept where the row says nothing else. */
  operations?: string[]
  rows: WrittenRow[]
}

const FOLDER = new URL('./', import.meta.url)

/** Tags for what would be too long to write. */
const SCHEMA = CORE_SCHEMA.withTags(
  tag('!hosts', (count) => Array.from({ length: Number(count) }, (_, index) => `host-${index}.example`)),
  tag('!groups', (count) => Array.from({ length: Number(count) }, (_, index) => ({ name: `Group ${index}` }))),
  tag('!repeated', (text) => {
    const [part = '', count] = text.split(' ')
    return part.repeat(Number(count))
  }),
  // A body with so many bytes: of white space, but for what it asks for.
  tag('!padded', (text) => {
    const [asked = '', bytes] = text.split(' ')
    return JSON.stringify(asked === 'name' ? { name: 'New' } : { domains: [`${asked}.example`] }).padEnd(Number(bytes))
  }),
)

function tag(name: string, resolve: (text: string) => unknown) {
  return defineScalarTag(name, { resolve, identify: () => false })
}

/** The file of an operation; its first row is a request that the operation accepts. */
const FILES: Readonly<Record<string, string>> = {
  listDmarc: 'list-dmarc',
  listDomains: 'list-domains',
  addDomains: 'add-domains',
  deleteDomains: 'delete-domains',
  listDomainGroups: 'list-domain-groups',
  createDomainGroup: 'create-domain-group',
  updateDomainGroup: 'update-domain-group',
  deleteDomainGroup: 'delete-domain-group',
}

const written = new Map(
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => {
      const sections = load(readFileSync(new URL(file, FOLDER), 'utf8'), { schema: SCHEMA })
      return [basename(file, '.yaml'), sections as Section[]]
    }),
)

/** By operation, a request that it accepts from the ordinary account. */
export const ACCEPTED: Readonly<Record<string, Pick<Sent, 'send' | 'body'>>> = Object.fromEntries(
  Object.entries(FILES).map(([operation, file]) => {
    const { send = '', body } = written.get(file)?.[0]?.rows[0] ?? {}
    return [operation, { send, ...(body !== undefined && { body }) }]
  }),
)

/** Whether the global `fetch` can send it: it sends no body with GET. */
export function isForFetch({ send, body, text, base64 }: Sent): boolean {
  return !send.startsWith('GET ') || (body === undefined && text === undefined && base64 === undefined)
}

/** Every row of the corpus, in the order of the files. A row without `send` is sent as the first one of its file. */
export const ROWS: readonly Row[] = [...written].flatMap(([file, sections]) =>
  sections.flatMap(({ spec, operations, rows }) =>
    rows.flatMap((row) =>
      (operations ?? [undefined]).map((operation, index): Row => {
        const { when, ...own } = row
        const id = `${file}: ${when}${operation === undefined ? '' : `, ${operation}`}`
        const { send = '' } = sections[0]?.rows[0] ?? {}
        const usual: Sent = operation === undefined ? { send } : { send, ...ACCEPTED[operation] }
        const { body: _, ...withoutBody } = usual
        const base = own.text === undefined ? usual : withoutBody
        return {
          given: {},
          rules: [],
          open: [],
          answer: { status: 200 },
          ...base,
          ...own,
          id,
          spec,
          isRepeated: index > 0,
        }
      }),
    ),
  ),
)
