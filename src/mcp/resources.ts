import { listPackageFiles, readPackageFile } from '../ground/package-files.ts'

/** A text that an assistant can read. */
export interface Resource {
  uri: string
  name: string
  title: string
  mimeType: string
  description?: string
}

const SCHEME = 'dmarc-understudy:///'

/** The page for an assistant. What comes before its first section is also told at the beginning of a session. */
const GUIDE = 'docs/assistants-guide.md'

const FILES: readonly (Omit<Resource, 'uri' | 'name'> & { path: string })[] = [
  { path: 'openapi.yaml', title: 'The contract of the service', mimeType: 'application/yaml' },
  { path: 'src/admin/openapi.yaml', title: 'The document of the control plane', mimeType: 'application/yaml' },
  {
    path: 'fixtures/fixture.schema.json',
    title: 'The JSON Schema of a fixture',
    mimeType: 'application/schema+json',
    description: 'Every field of the fixtures that create_account, reset_account and import_state take.',
  },
]

/** The files of the package that are useful to an assistant, the guide first. */
export function listResources(): Resource[] {
  const pages = listPackageFiles('docs')
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => {
      const path = `docs/${name}`
      const [, title = name] = /^# (.+)$/m.exec(readText(path)) ?? []
      return { path, title, mimeType: 'text/markdown' }
    })
  const rank = ({ path }: { path: string }) => (path === GUIDE ? 0 : 1)
  return [...pages, ...FILES]
    .sort((one, other) => rank(one) - rank(other))
    .map(({ path, ...rest }) => ({ uri: SCHEME + path, name: path, ...rest }))
}

/** A resource with its text; `undefined` if there is none with this address. */
export function readResource(uri: string): { resource: Resource; text: string } | undefined {
  const resource = listResources().find((each) => each.uri === uri)
  return resource && { resource, text: readText(resource.name) }
}

/** What an assistant is told at the beginning of a session. */
export function readInstructions(): string {
  const [beginning = ''] = readText(GUIDE).split('\n## ')
  return beginning.replace(/^# .+\n/, '').trim()
}

function readText(path: string): string {
  return readPackageFile(path).toString()
}
