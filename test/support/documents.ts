import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** One command of a fenced block, and what the document says about it. */
interface DocumentedCommand {
  /** In one line, without its comment. */
  text: string
  /** The error code after `# refused: `. */
  refused?: string
  /** The exit code after `# exits with `, if it is not 0. */
  exits?: number
  /** The content of the fenced block after that of the command: what the document says it prints. */
  prints?: string
}

/** A file with commands to copy. */
export interface Document {
  path: string
  commands: readonly DocumentedCommand[]
}

interface Block {
  language: string
  content: string
}

/** Every Markdown file of the project that a user reads. */
export function readDocuments(): Document[] {
  const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  const paths = ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)]
  return paths.map((path) => ({ path, commands: commandsOf(blocksOf(readFileSync(join(ROOT, path), 'utf8'))) }))
}

/** The fenced blocks, those in lists included. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', text = '']) => ({
      language,
      content: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}

/** The commands of the blocks in the language `sh`, in their order. */
function commandsOf(blocks: readonly Block[]): DocumentedCommand[] {
  return blocks.flatMap(({ language, content }, index) => {
    if (language !== 'sh') return []
    const lines = content.replaceAll(/\\\n\s*/g, '').split('\n')
    const commands = lines.filter((line) => !/^\s*(#|$)/.test(line)).map(readCommand)
    const next = blocks[index + 1]
    const last = commands.at(-1)
    const prints = next?.language === 'json' || next?.language === 'text' ? next.content : undefined
    if (last === undefined || prints === undefined) return commands
    return [...commands.slice(0, -1), { ...last, prints }]
  })
}

function readCommand(line: string): DocumentedCommand {
  const [, text = line, comment = ''] = /^(.*?)(?:\s+# (.*))?$/.exec(line) ?? []
  const refused = /^refused: (\w+)$/.exec(comment)?.[1]
  const exits = /^exits with (\d+)$/.exec(comment)?.[1]
  return { text, ...(refused !== undefined && { refused }), ...(exits !== undefined && { exits: Number(exits) }) }
}

/** What the output of a command has that differs from run to run, written alike. */
export function withoutAccidents(output: string): string {
  return (
    output
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:4010')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replaceAll(/\d+ of your command, about [\d.]+ s each/g, 'runs')
      // How many trials run at the same time depends on the machine, and so does how many runs that takes to find out.
      .replaceAll(/^(Runs {2,})\d+(, those without faults included)$/gm, '$1N$2')
      .replaceAll(/^(Trials {2,}).+$/gm, '$1')
  )
}
