import { type OptionKind, textThat } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'

/** The overlays of a command that judges a service. */
export const SERVICE_OVERLAYS = {
  ...COMMAND_LINE_OPTIONS.overlays,
  help: 'OpenAPI Overlay that changes the assumptions about the service: a YAML or JSON file.',
} as const

const SCHEMES = 'must begin with http:// or https://'

/** The base URL of a service. */
export const baseUrl: OptionKind<string> = {
  ...textThat((written) => refuseUrl(written) === undefined, `${SCHEMES}, such as https://api.example.com`, 'URL'),
  remedy: (written) => refuseUrl(`${written}`) ?? '',
  shows: (written) => (hasCredentials(written) ? undefined : written),
}

/** Why this is no base URL, as the end of a sentence. */
function refuseUrl(written: string): string | undefined {
  if (hasCredentials(written)) return 'must not hold credentials; the key is sent in a header field'
  if (!/^https?:\/\//i.test(written)) {
    const isOther = /^[a-z][a-z0-9+.-]*:\/\//i.test(written)
    const remedy = isOther ? '' : `, such as https://${written.replace(/^\/+/, '') || 'api.example.com'}`
    return SCHEMES + remedy
  }
  if (!URL.canParse(written)) return 'must be a URL such as https://api.example.com'
  return /[?#]/.test(written) ? 'must not have a query or a fragment' : undefined
}

/** Whether a URL has a user, and perhaps a password, before its host. */
function hasCredentials(written: string): boolean {
  if (/^[^/?#]*\/\/[^/?#]*@/.test(written)) return true
  if (!URL.canParse(written)) return false
  const { username, password } = new URL(written)
  return username !== '' || password !== ''
}

/** The warning of a report that joins the evidence of several services. */
export function warnOfSeveral(services: readonly string[] = []): string[] {
  return services.length > 1 ? [`The evidence is of several services, which may differ: ${services.join(', ')}.`] : []
}
