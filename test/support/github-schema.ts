import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { JSONObjectReader } from '@actions/workflow-parser/templates/json-object-reader'
import { TemplateSchema } from '@actions/workflow-parser/templates/schema/index'
import { TemplateContext, TemplateValidationErrors } from '@actions/workflow-parser/templates/template-context'
import { readTemplate } from '@actions/workflow-parser/templates/template-reader'
import { NoOperationTraceWriter } from '@actions/workflow-parser/templates/trace-writer'
import { YamlObjectReader } from '@actions/workflow-parser/workflows/yaml-object-reader'
import { ROOT } from './program-process.ts'

// The entry of the package imports these two files in a way that Node.js refuses.
const FOLDER = join(ROOT, 'node_modules/@actions/workflow-parser/dist')

/** What GitHub says of a file that is no workflow, or no action. */
export function problemsOf(kind: 'workflow' | 'action', text: string): string[] {
  const json = readFileSync(join(FOLDER, `${kind}-v1.0.min.json`), 'utf8')
  const schema = TemplateSchema.load(new JSONObjectReader(undefined, json))
  const context = new TemplateContext(new TemplateValidationErrors(), schema, new NoOperationTraceWriter())
  const file = context.getFileId(kind)
  const reader = new YamlObjectReader(file, text)
  if (reader.errors.length > 0) return reader.errors.map(({ message }) => message)
  readTemplate(context, `${kind}-root-strict`, reader, file)
  return context.errors.getErrors().map(({ message }) => message)
}
