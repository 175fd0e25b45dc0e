// Writes src/contract/control-document.ts: the types of what the control plane takes and answers, from its document. With
// --check, it writes nothing, and says whether the file is up to date.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { load } from 'js-yaml'
import { build } from 'rolldown'

process.chdir(fileURLToPath(new URL('../', import.meta.url)))
const SOURCE = 'src/admin/openapi.yaml'
const TARGET = 'src/contract/control-document.ts'

// The program need not be built for this.
const { output } = await build({ input: 'src/contract/short-form.ts', write: false })
const { expandShortForm } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)
const document = expandShortForm(load(readFileSync(SOURCE, 'utf8')))
const text =
  format(`// Written by scripts/control-types.mjs from ${SOURCE}, which explains each field; run it after a change there.

export interface Schemas {
${Object.entries(document.components.schemas)
  .map(([name, schema]) => `${name}: ${typeOf(schema)}`)
  .join('\n')}
}

/** By operationId: the parameters in the path and in the query, the body of the request, and the \`data\` of the answer. */
export interface Operations {
${Object.values(document.paths).flatMap(Object.values).map(operationOf).join('\n')}
}
`)
if (process.argv[2] !== '--check') writeFileSync(TARGET, text)
else if (readFileSync(TARGET, 'utf8') !== text) {
  console.error(`${TARGET} does not follow from ${SOURCE}; run node scripts/control-types.mjs.`)
  process.exit(1)
}

function operationOf({ operationId, parameters = [], requestBody, responses }) {
  const given = parameters.map(follow)
  const fields = ['path', 'query'].flatMap((place) => {
    const own = given.filter((each) => each.in === place)
    const needed = own.map(({ name, schema, required }) => fieldOf(name, schema, required === true))
    return own.length === 0 ? [] : `${place}: { ${needed.join('; ')} }`
  })
  const body = requestBody?.content['application/json']?.schema
  if (body !== undefined) fields.push(fieldOf('body', body, requestBody.required === true))
  const [success] = Object.values(responses).map(follow)
  const data = success.content['application/json']?.schema.properties.data
  if (data !== undefined) fields.push(fieldOf('data', data, true))
  return `${operationId}: ${fields.length === 0 ? 'object' : `{ ${fields.join('; ')} }`}`
}

function follow(value) {
  const steps = value.$ref?.split('/').slice(1)
  return steps === undefined ? value : steps.reduce((holder, step) => holder[step], document)
}

/** The type of the values of a schema. Which fields go together is left out: as a type, it would be of no help. */
function typeOf(schema) {
  if (schema === true) return 'unknown'
  if (schema.$ref !== undefined) return `Schemas['${schema.$ref.split('/').at(-1)}']`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const wholes = schema.allOf?.map(typeOf) ?? []
  const branches = (schema.anyOf ?? schema.oneOf ?? []).filter((branch) => branch.required === undefined).map(typeOf)
  if (branches.length > 0) return branches.join(' | ')
  const types = [schema.type ?? (schema.properties && 'object') ?? []].flat()
  const own = types.map((type) => ofType(type, schema)).join(' | ')
  return [...wholes, ...(own === '' ? [] : [own])].join(' & ') || 'unknown'
}

function ofType(type, schema) {
  if (type === 'integer') return 'number'
  if (type === 'array') return `(${typeOf(schema.items)})[]`
  if (type !== 'object') return type
  const { properties, required = [], additionalProperties: others } = schema
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, each]) => fieldOf(name, each, required.includes(name)))
    return `{ ${fields.join('; ')} }`
  }
  return `Record<string, ${typeof others === 'object' ? typeOf(others) : 'unknown'}>`
}

function fieldOf(name, schema, isRequired) {
  return `${/^\w+$/.test(name) ? name : JSON.stringify(name)}${isRequired ? '' : '?'}: ${typeOf(schema)}`
}

function format(types) {
  const biome = ['node_modules/@biomejs/biome/bin/biome', 'format', '--stdin-file-path', TARGET]
  const { status, stdout, stderr } = spawnSync(process.execPath, biome, { input: types, encoding: 'utf8' })
  if (status === 0) return stdout
  console.error(stderr || stdout)
  process.exit(1)
}
