import { type Kind, text } from '../start/option.ts'

/** The base URL of a service. */
export const baseUrl: Kind<string> = {
  ...text,
  remedy: 'must be the base URL of the service, such as https://dmarc.example/api/v1, without a query',
  placeholder: 'URL',
  fits: (value): value is string => typeof value === 'string' && isBaseUrl(value),
}

function isBaseUrl(written: string): boolean {
  if (!URL.canParse(written) || /[?#]/.test(written)) return false
  const { protocol, username, password } = new URL(written)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}
