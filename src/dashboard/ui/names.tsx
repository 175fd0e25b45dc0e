import { type Signal, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { refreshShown } from '../data.ts'
import { formatCount, formatDeed } from '../formatting.ts'
import { addWords, Refused } from '../refusals.ts'
import { openDialog } from './dialog.tsx'

/** A name that the user typed, and its line, from 1. */
interface TypedName {
  name: string
  line: number
}

/** The most names in one request if the service has no limit. */
const MOST_NAMES = 1_000

/** The names in a text. Line breaks, white space, commas and semicolons separate them. */
export function readNames(text: string): TypedName[] {
  return text.split('\n').flatMap((content, index) =>
    content
      .split(/[\s,;]+/u)
      .filter((name) => name !== '')
      .map((name) => ({ name, line: index + 1 })),
  )
}

interface NamesChange {
  title: string
  submit: 'Add' | 'Remove'
  word: 'domain' | 'member'
  /** The names that the field begins with. */
  names?: readonly string[]
  /** What the user should know before. */
  about?: ComponentChildren
  /** How many names a request may contain; by default as many as fit. */
  limit?: number | null
  /** Sends one request. @throws Refused, which may name an item of the list */
  send(names: string[]): Promise<void>
}

/**
 * Asks for names, one in each line, and sends them in as few requests as the service permits. A refusal names the lines
 * that have caused it. Resolves to false if the user closes the form.
 */
export async function askForNames(change: NamesChange): Promise<boolean> {
  const { title, submit, word, names = [], limit, send } = change
  const size = Math.min(limit ?? MOST_NAMES, MOST_NAMES)
  const deed = submit === 'Add' ? 'added' : 'removed'
  const text = signal(names.join('\n'))
  const done = await openDialog(title, <Names text={text} size={size} change={change} />, {
    submit,
    danger: submit === 'Remove',
    async work() {
      const typed = readNames(text.peek())
      if (typed.length === 0) throw new Error(`Write at least one ${word}.`)
      for (let start = 0; start < typed.length; start += size) {
        const part = typed.slice(start, start + size)
        try {
          await send(part.map(({ name }) => name))
        } catch (error) {
          if (start === 0) throw withLines(error, part)
          // What is done must not be sent again, because the service would refuse it.
          const rest = typed.slice(start).map(({ name }, index) => ({ name, line: index + 1 }))
          text.value = rest.map(({ name }) => name).join('\n')
          await refreshShown()
          throw withLines(error, rest, ` ${formatDeed(start, word, deed)} Only the others are left above.`)
        }
      }
      await refreshShown()
      return typed.length
    },
    note: (count) => formatDeed(count, word, deed),
  })
  return done !== undefined
}

function Names({ text, size, change }: { text: Signal<string>; size: number; change: NamesChange }) {
  const { about, word } = change
  const count = readNames(text.value).length
  return (
    <>
      {about}
      <label>
        {word === 'domain' ? 'Domains' : 'Members'}, one in each line
        <textarea
          rows={8}
          class="mono"
          spellcheck={false}
          autocapitalize="none"
          value={text.value}
          placeholder={'shop.example\nmail.shop.example'}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
      </label>
      <p class="soft" role="status">
        {count === 0
          ? 'Commas, semicolons and spaces divide names, too.'
          : `${formatCount(count, word)}, sent as typed`}
        {count > size && ` in ${Math.ceil(count / size)} requests, because one takes at most ${size}`}
        {count > 0 && '.'}
      </p>
    </>
  )
}

/** Adds the line numbers to a refusal. `words` are added to the message. */
function withLines(error: unknown, names: readonly TypedName[], words = ''): unknown {
  if (!(error instanceof Refused)) return addWords(error, words)
  const { status, code, message, problems } = error
  const located = problems.map((problem) => {
    const [, place] = /^\/\w*domains\/(\d+)$/.exec(problem.field ?? '') ?? []
    const typed = place === undefined ? undefined : names[Number(place)]
    return typed === undefined ? problem : { ...problem, message: nameLine(problem.message, typed.line) }
  })
  const [first] = located
  const isLocated = first !== undefined && first.message !== problems[0]?.message
  return addWords(new Refused(status, { code, message: isLocated ? first.message : message, problems: located }), words)
}

/** Replaces an item of the request such as `domains[2]` at the beginning of a message by its line. */
function nameLine(message: string, line: number): string {
  const rest = message.replace(/^`\w*domains\[\d+\]`/, '')
  return rest === message ? `Line ${line}: ${message}` : `Line ${line}${rest}`
}
