/** The names that a template can use in braces. */
export const PLACEHOLDERS = ['baseUrl', 'apiKey', 'adminUrl', 'port'] as const

/** The values that a template can use. */
type Addresses = Readonly<Record<(typeof PLACEHOLDERS)[number], string>>

/** A variable for the command. Its value may contain placeholders such as `{baseUrl}`. */
export interface EnvironmentVariable {
  name: string
  template: string
}

const PLACEHOLDER = /\{(\w+)\}/g

/** Whether each placeholder in the text has a value. */
export function isTemplate(text: string): boolean {
  return [...text.matchAll(PLACEHOLDER)].every(([, name]) => PLACEHOLDERS.some((known) => known === name))
}

/**
 * The variables that tell a command the address of the service; `trial` is the name of the trial. A variable without a
 * value is `undefined`. This hides the outer variable, which may belong to another server.
 */
export function environmentFor(
  addresses: Addresses,
  trial: string,
  variables: readonly EnvironmentVariable[],
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
