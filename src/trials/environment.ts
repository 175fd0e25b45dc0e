/** What a template of a variable may name. */
export interface Addresses {
  baseUrl: string
  apiKey: string
  adminUrl: string
  port: string
}

/** The names that a template may have in braces. */
export const PLACEHOLDERS = Object.keys({
  baseUrl: true,
  apiKey: true,
  adminUrl: true,
  port: true,
} satisfies Record<keyof Addresses, true>)

/** A variable of the command's environment, whose value is written with placeholders such as `{baseUrl}`. */
export interface Variable {
  name: string
  template: string
}

const PLACEHOLDER = /\{(\w+)\}/g

/**
 * The variables that tell a command where the service is; `trial` names the trial. One that has no value is `undefined`,
 * so that the command does not see that of the environment around it, which tells of another server.
 */
export function environmentFor(
  addresses: Addresses,
  trial: string,
  variables: readonly Variable[],
): Record<string, string | undefined> {
  const { baseUrl, apiKey, adminUrl } = addresses
  const fill = (template: string) =>
    template.replaceAll(PLACEHOLDER, (whole, name: string) => addresses[name as keyof Addresses] ?? whole)
  return {
    UNDERSTUDY_BASE_URL: baseUrl,
    UNDERSTUDY_API_KEY: apiKey || undefined,
    UNDERSTUDY_ADMIN_URL: adminUrl || undefined,
    UNDERSTUDY_TRIAL: trial,
    ...Object.fromEntries(variables.map(({ name, template }) => [name, fill(template)])),
  }
}
