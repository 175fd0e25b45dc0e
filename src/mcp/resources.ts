import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A text that an assistant can read. */
export interface Resource {
  uri: string
  name: string
  title: string
  mimeType: string
  description?: string
}

const ROOT = join(import.meta.dirname, '../..')
const SCHEME = 'dmarc-understudy:///'

/** The page for an assistant. What comes before its first section is also told at the beginning of a session. */
export const GUIDE = 'docs/assistants-guide.md'

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
export async function listResources(): Promise<Resource[]> {
  const names = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).toSorted()
  const pages = await Promise.all(
    names.map(async (name) => {
      const path = `docs/${name}`
      const [, title = name] = /^# (.+)$/m.exec(await readPackageFile(path)) ?? []
      return { path, title, mimeType: 'text/markdown' }
    }),
  )
  const rank = ({ path }: { path: string }) => (path === GUIDE ? 0 : 1)
  return [...pages, ...FILES]
    .sort((one, other) => rank(one) - rank(other))
    .map(({ path, ...rest }) => ({ uri: SCHEME + path, name: path, ...rest }))
}

/** A resource with its text; `undefined` if there is none with this address. */
export async function readResource(uri: string): Promise<{ resource: Resource; text: string } | undefined> {
  const resource = (await listResources()).find((each) => each.uri === uri)
  return resource && { resource, text: await readPackageFile(resource.name) }
}

/** What an assistant is told at the beginning of a session. */
export async function readInstructions(): Promise<string> {
  const [beginning = ''] = (await readPackageFile(GUIDE)).split('\n## ')
  return beginning.replace(/^# .+\n/, '').trim()
}

function readPackageFile(path: string): Promise<string> {
  return readFile(join(ROOT, path), 'utf8')
}
