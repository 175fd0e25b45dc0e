import { PREFIX } from '../server/option.ts'

const URL = /^(?:tcp|udp|sctp):\/\/(?:[\d.]+|\[[\da-f:.]+\]):\d+$/
const ADDRESS = /^[\d.]+$|^[\da-f:.]*:[\da-f:.]*$/
const NUMBER = /^\d+$/
/** The link of a container, `/web/dmarc-understudy`. */
const LINK = /^\/./

/**
 * The ends of the names that a cluster or a link of containers gives to its variables, and the values that it sets. The
 * beginning of such a name is that of a service, in capitals. Our prefix is the beginning for `dmarc-understudy` and
 * for `dmarc-understudy-redis`.
 * Sources: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables and
 * https://docs.docker.com/engine/network/links/#environment-variables.
 */
const LINKED: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/_SERVICE_HOST$/, ADDRESS],
  [/_SERVICE_PORT(?:_[A-Z\d_]+)?$/, NUMBER],
  [/_PORT$/, URL],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)(?:_START|_END)?$/, URL],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)_ADDR$/, ADDRESS],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)_PORT(?:_START|_END)?$/, NUMBER],
  [/_PORT_\d+_(?:TCP|UDP|SCTP)_PROTO$/, /^(?:tcp|udp|sctp)$/],
  [/_NAME$/, LINK],
]

/**
 * The variables with our prefix. Those that a cluster or a link of containers has set are no options, though a service
 * has our name.
 */
export function ownVariables(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(environment).filter(
    ([name, value = '']) => name.startsWith(PREFIX) && !isLinked(name, value, environment),
  )
  return Object.fromEntries(own)
}

function isLinked(name: string, value: string, environment: NodeJS.ProcessEnv): boolean {
  if (LINKED.some(([end, values]) => end.test(name) && values.test(value))) return true
  // Variables of the linked container, which may have any value. A longer name could also be a mistaken option.
  const [, alias] = /^(\w+?)_ENV_./.exec(name) ?? []
  return alias !== undefined && (`${alias}_` === PREFIX || LINK.test(environment[`${alias}_NAME`] ?? ''))
}
