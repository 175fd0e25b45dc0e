import { annotate } from '../../src/reports/github.ts'
import { writeHtml } from '../../src/reports/html.ts'
import { writeJUnit } from '../../src/reports/junit.ts'
import { writeMarkdown } from '../../src/reports/markdown.ts'
import type { Report } from '../../src/reports/report.ts'
import { summarise } from '../../src/reports/terminal.ts'

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

/** What is markup, or no XML at all, without the values of attributes. */
const XML = /<[^>]*>|&(?!(?:amp|lt|gt|quot|apos|#\d+);)|[^\P{Cc}\n\u0080-\u009f]|[\p{Cs}\ufffe\uffff"]/gu

/** What a reader of each format takes for structure and not for text. */
export const STRUCTURES: Readonly<Record<string, (report: Report) => unknown>> = {
  junit: (report) =>
    writeJUnit(report)
      .replaceAll(/"[^"<\n]*"/g, '')
      .match(XML),
  html: async (report) => (await writeHtml(report)).match(/<[^>]*>/g),
  markdown: (report) => markupOf(writeMarkdown(report)),
  'annotations of GitHub': (report) =>
    annotate(report).map((line) => {
      const [, command, properties = ''] = /^::(\w+) ([^\n\r]*?)::[^\n\r]*$/.exec(line) ?? [line]
      return [command, properties.split(',').map((pair) => pair.split('=')[0])]
    }),
  terminal: (report) =>
    summarise(report, false).flatMap((line) => line.match(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu) ?? []),
}
