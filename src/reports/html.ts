import { createHash } from 'node:crypto'
import { WHOLE, writeMarkdown } from './markdown.ts'
import { nameResult, type Report } from './report.ts'

const STYLE = `
:root { color-scheme: light dark; font: 15px / 1.55 system-ui, sans-serif; }
body { margin: 0; background: light-dark(#f4f5f8, #0f1217); color: light-dark(#1a1f28, #e7eaef); overflow-wrap: anywhere; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
h1 { font-size: 1.4rem; }
h2 { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid light-dark(#dfe3e9, #2b323d); font-size: 1.05rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.9em; }
code, pre, th { background: light-dark(#e9ecf1, #1f242d); border-radius: 4px; }
code { padding: 0.1em 0.3em; }
pre { padding: 0.7rem; white-space: pre-wrap; }
pre code { padding: 0; }
table { border-collapse: collapse; }
thead:not(:has(th:not(:empty))) { display: none; }
th, td { padding: 0.3rem 0.6rem; border: 1px solid light-dark(#dfe3e9, #2b323d); text-align: start; vertical-align: top; }
summary { cursor: pointer; padding: 0.5rem 0; }
@media print { ::details-content { content-visibility: visible; block-size: auto; } }
`

/**
 * The Markdown report as one self-contained page, without scripts and without requests. Its Content Security Policy
 * permits only its own style. So even an error in the escaping could not load or run anything.
 */
export async function writeHtml(report: Report): Promise<string> {
  const { Marked } = await import('marked')
  const markdown = new Marked({
    // A comment begins at the second level; a page has a heading of the first.
    walkTokens(token) {
      if (token.type === 'heading') token.depth--
    },
  })
  const hash = createHash('sha256').update(STYLE).digest('base64')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${nameResult(report)}: dmarc-understudy ${report.tool}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${await markdown.parse(writeMarkdown(report, WHOLE))}</main>
</body>
</html>
`
}
