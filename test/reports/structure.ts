import { annotate } from '../../src/reports/github.ts'
import { writeHtml } from '../../src/reports/html.ts'
import { writeJUnit } from '../../src/reports/junit.ts'
import { writeMarkdown } from '../../src/reports/markdown.ts'
import type { Report } from '../../src/reports/report.ts'
import { summarise } from '../../src/reports/terminal.ts'

/** The children that the readers of JUnit XML agree on, in this order; all other elements have only text. */
const CHILDREN: Readonly<Record<string, RegExp>> = {
  document: /^testsuites $/,
  testsuites: /^(testsuite )*$/,
  testsuite: /^(properties )?(testcase )+$/,
  properties: /^(property )+$/,
  testcase: /^(skipped|failure|system-out) $/,
}
const TEXT = String.raw`[^<&"\u0000-\u001f\ufffe\uffff\ud800-\udfff]|&(?:amp|lt|gt|quot|apos|#\d+);`
const TOKEN = new RegExp(String.raw`<(\/?)([\w-]+)((?: [\w-]+="(?:${TEXT})*")*)(\/?)>|["\n]|${TEXT}`, 'uy')

/** The elements of a report in well-formed XML, each with the names of its attributes. @throws Error where it is none */
export function elementsOf(xml: string): string[] {
  const elements: string[] = []
  const open = [{ name: 'document', children: '' }]
  function end(): void {
    const { name = '', children } = open.pop() ?? {}
    if (!(CHILDREN[name] ?? /^$/).test(children ?? '')) throw new Error(`${name} has ${children}`)
  }
  TOKEN.lastIndex = xml.indexOf('\n')
  while (TOKEN.lastIndex < xml.length) {
    const at = TOKEN.lastIndex
    const [token, closes, name, attributes = '', isEmpty] = TOKEN.exec(xml) ?? []
    if (token === undefined || (closes && open.at(-1)?.name !== name)) throw new Error(`at ${xml.slice(at, at + 100)}`)
    if (closes === '') {
      elements.push(`${name} ${[...attributes.matchAll(/([\w-]+)="/g)].map(([, attribute]) => attribute)}`)
      for (const parent of open.slice(-1)) parent.children += `${name} `
      open.push({ name: name ?? '', children: '' })
    }
    if (closes || isEmpty) end()
  }
  if (open.length > 1) throw new Error(`${open.at(-1)?.name} has no end`)
  end()
  return elements
}

/** In Markdown, what a text may have without being more than a text: escaped characters and references to them. */
const ESCAPED = /\\[!-/:-@[-`{-~]|&(?:amp|lt|gt|#\d+);/g
/** What is markup, a mention or a link in GitHub-flavoured Markdown unless it is escaped. */
const MARKUP = /[\\`*_{}[\]()#+\-!|~$^=<>&]|@(?=\w)|:(?=\/\/|\w)|\bwww\.|^ *\d+[.)]/gim

/** The markup of a text in Markdown, without fenced blocks and code, of which it says only that they are there. */
export function markupOf(markdown: string): string[] {
  const blocks = markdown.replaceAll(/^(`{3,})(\w*)\n(?:[\s\S]*?\n)??\1$/gm, '¶$2')
  const spans = blocks.replaceAll(/(?<![\\`])(`+)(?!`)[^\n]*?[^`\n]\1(?!`)/g, '§')
  return spans.split('\n').map((line) => {
    const marks = line.replaceAll(ESCAPED, '·').match(MARKUP) ?? []
    return [...marks, ...(line.match(/[¶§]/g) ?? [])].join('')
  })
}

/** Every tag of HTML, with its attributes. */
function tagsOf(html: string): string[] {
  return html.match(/<[^>]*>/g) ?? []
}

/** What a reader of each format takes for structure and not for text. */
export const STRUCTURES: Readonly<Record<string, (report: Report) => unknown>> = {
  junit: (report) => elementsOf(writeJUnit(report)),
  html: async (report) => tagsOf(await writeHtml(report)),
  markdown: (report) => markupOf(writeMarkdown(report)),
  'annotations of GitHub': (report) =>
    annotate(report).map((line) => {
      const [, command, properties = ''] = /^::(\w+) ([^\n\r]*?)::[^\n\r]*$/.exec(line) ?? [line]
      return [command, properties.split(',').map((pair) => pair.split('=')[0])]
    }),
  terminal: (report) =>
    summarise(report, false).flatMap((line) => line.match(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu) ?? []),
}
