import { domainToASCII } from 'node:url'

/** A longer text is not a hostname with other text around it. */
const LENGTH = 2048

/**
 * The hostname within a text that is no hostname: without white space, final dots, scheme, port and path. With
 * `liberal`, also the domain of an e-mail address and the parent of a wildcard, although these are different names.
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
  // The contract may accept only ASCII, so the A-label forms are tried last.
  return written ?? [...candidates].map((candidate) => domainToASCII(candidate)).find(isHostname)
}
