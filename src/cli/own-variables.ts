import { PREFIX } from '../server/option.ts'

/**
 * What a cluster or a link of containers adds to the names of a service that has our name, such as
 * `DMARC_UNDERSTUDY_SERVICE_HOST` and `DMARC_UNDERSTUDY_PORT_4010_TCP_ADDR`.
 * Source: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables.
 */
const LINKED = /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z\d_]+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_[A-Z]+)?$/
/** The value of `DMARC_UNDERSTUDY_PORT`, which is an option, too. */
const LINK = /^(?:tcp|udp|sctp):\/\//

/** The variables with our prefix that are options. */
export function ownVariables(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value = '']) => name.startsWith(PREFIX) && !LINKED.test(name) && !LINK.test(value),
    ),
  )
}
