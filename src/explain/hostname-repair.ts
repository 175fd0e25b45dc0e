import { domainToASCII } from 'node:url'

/** Longer texts are no hostname with something around it. */
const LENGTH = 2048

/**
 * The hostname in a text that is none: without white space, final dots, scheme, port and path around it. With
 * `liberal`, also that of an e-mail address, and the one below which a wildcard stands, which are other names.
 */
export function hostnameWithin(
  text: string,
  isHostname: (text: string) => boolean,
  { liberal }: { liberal: boolean },
): string | undefined {
  if (text.length > LENGTH) return undefined
  const trimmed = text.trim()
  const bare = trimmed.replace(/^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?/i, '').replace(/(?::\d*)?(?:[/?#].*)?$/s, '')
  const undotted = bare.replace(/\.+$/, '')
  const named = undotted.replace(/^[^@]*@/, '').replace(/^(?:\*?\.)+/, '')
  const candidates = new Set([trimmed, bare, undotted, ...(liberal ? [named] : [])])
  const written = [...candidates].find(isHostname)
  // A-labels, where none but ASCII is wanted.
  return written ?? [...candidates].map((candidate) => domainToASCII(candidate)).find(isHostname)
}
