import { type OptionKind, textThat } from '../start/option.ts'
import { COMMAND_LINE_OPTIONS } from '../start/option-table.ts'

/** The overlays of a command that judges a service. */
export const SERVICE_OVERLAYS = {
  ...COMMAND_LINE_OPTIONS.overlays,
  flagHelp: 'OpenAPI Overlay that changes what is assumed of the service: a YAML or JSON file.',
} as const

const REMEDY = 'must be the base URL of the service, such as https://dmarc.example/api/v1, without a query'

/** The base URL of a service. */
export const baseUrl: OptionKind<string> = {
  ...textThat(isBaseUrl, REMEDY, 'URL'),
  remedyFor: (value) => (hasCredentials(`${value}`) ? 'must not hold credentials' : REMEDY),
  shows: (written) => (hasCredentials(written) ? undefined : written),
}

/** Whether a URL has a user, and perhaps a password, before its host. */
function hasCredentials(written: string): boolean {
  return /^[^/?#]*\/\/[^/?#]*@/.test(written)
}

function isBaseUrl(written: string): boolean {
  if (!URL.canParse(written) || /[?#]/.test(written)) return false
  const { protocol, username, password } = new URL(written)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** The warning of a report that joins the evidence of several services. */
export function warnOfSeveral(services: readonly string[] = []): string[] {
  return services.length > 1 ? [`The evidence is of several services, which may differ: ${services.join(', ')}.`] : []
}
