import { nameIn } from '../ground/hosts.ts'
import { quoteWord } from '../ground/shell-word.ts'
import { spelt } from '../ground/show.ts'
import { type Entry, fieldOf } from '../journal/entry.ts'

/** The origin of a name or an address. No other one is worth an option. */
const NAME = /^http:\/\/(?:[\w.-]+|\[[\da-f:.]+\])$/

/** The Host of a request that was refused because of it: the check against DNS rebinding does not know the name. */
export function foreignHostOf({ problems, headers }: Pick<Entry, 'problems' | 'headers'>): string | undefined {
  return problems[0]?.reason === 'host' ? (fieldOf(headers, 'host') ?? '') : undefined
}

/** What a client can do that was refused because of its Host: use the base URL, or have the name permitted. */
export function describeForeignHost(host: string, baseUrl: string): string {
  const origin = `http://${nameIn(host)}`
  const known = `The header \`Host\` is ${spelt(host)}, which is no name of this server (DNS rebinding). On this machine, ${baseUrl} works.`
  if (!NAME.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) return known
  return `${known} Where this machine has that name, as for an emulator or a container, \`--cors ${quoteWord(origin)}\` permits it.`
}
