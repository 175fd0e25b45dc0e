import { createHash } from 'node:crypto'
import { findDifference, type Parts } from './difference.ts'
import { STYLE } from './html-style.ts'
import {
  type Block,
  type Check,
  countFindings,
  type Finding,
  failuresFirst,
  nameResult,
  OUTCOMES,
  type Report,
  type ReportOutcome,
  type Section,
  type Surroundings,
  type Write,
  worstFirst,
} from './report.ts'
import { EXPECTED_AND_RECEIVED, factsOf } from './wording.ts'

/** Control characters except line breaks and tabs, characters that change the text direction, and lone surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/gu

/** HTML from this program, with escaped texts. */
class Markup {
  readonly html: string

  constructor(html: string) {
    this.html = html
  }
}

type MarkupContent = Markup | string | number | undefined | readonly MarkupContent[]

/** A tag for template literals that makes HTML. Texts are escaped; only values of `Markup` are inserted unchanged. */
export function html(strings: TemplateStringsArray, ...values: readonly MarkupContent[]): Markup {
  return new Markup(strings.map((string, index) => string + render(values[index])).join(''))
}

function render(content: MarkupContent): string {
  if (content === undefined) return ''
  if (content instanceof Markup) return content.html
  if (typeof content === 'object') return content.map(render).join('')
  return escapeHtml(String(content))
}

/** Escapes a text for an element or a quoted attribute. Invisible characters are made visible. */
function escapeHtml(text: string): string {
  return text
    .replaceAll(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/**
 * The report as one self-contained page, without scripts and without requests. Its Content Security Policy permits only
 * its own style. So even an error in the escaping could not load or run anything.
 */
export const writeHtmlReport: Write = (report, surroundings) => {
  const hash = createHash('sha256').update(STYLE).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
  const title = `${nameResult(report)}: dmarc-understudy ${report.tool}: ${report.title}`
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<main>
${describeHead(report)}
${describeFindings(report, surroundings)}
${report.sections.map(describeSection)}
${describeChecks(report.checks)}
<footer>${describeOrigin(report, surroundings)}</footer>
</main>
</body>
</html>
`
  return page.html
}

function describeHead(report: Report): Markup {
  const { tool, title, passed, summary, facts } = report
  return html`<header class="card">
<div class="row"><span class="badge ${passed ? 'passed' : 'failed'}">${nameResult(report)}</span>
<h1>dmarc-understudy ${tool}: ${title}</h1></div>
<p class="summary">${summary}</p>
${facts.length === 0 ? undefined : describePairs(facts.map(({ name, value }) => [name, value]))}
</header>`
}

function describePairs(pairs: readonly (readonly [name: string, value: string])[]): Markup {
  return html`<dl>${pairs.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

function describeFindings({ findings }: Report, surroundings: Surroundings): Markup {
  const heading = findings.length === 0 ? 'No findings' : 'Findings'
  const count = findings.length < 2 ? undefined : html` <span class="soft">${countFindings(findings)}</span>`
  const items = worstFirst(findings).map((each) => describeFinding(each, surroundings))
  return html`<section aria-labelledby="findings">
<h2 id="findings">${heading}${count}</h2>
${items.length === 0 ? undefined : html`<ol class="findings">${items}</ol>`}
</section>`
}

function describeFinding(finding: Finding, { lineOf }: Surroundings): Markup {
  const { rule, level, message, request, details = [], remedy } = finding
  return html`<li class="card finding ${level}">
<div class="row"><span class="badge ${level}">${level}</span><h3>${rule.name}</h3><code class="soft">${rule.id}</code></div>
<p>${message}</p>
${remedy === undefined ? undefined : html`<div class="remedy"><p>${remedy.text}</p>${remedy.command === undefined ? undefined : describeCode(remedy.command, 'Command of the remedy')}</div>`}
${describePairs(factsOf(finding, lineOf))}
${request?.body === undefined ? undefined : html`<div class="label">Body of the request</div>${describeCode(request.body, 'Body of the request')}`}
${details.map((block) => describeBlock(block, rule.name))}
<p class="soft">${rule.description}</p>
</li>
`
}

/** Long code scrolls, so the keyboard must be able to focus it. */
function describeCode(text: MarkupContent, label: string): Markup {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`
}

function describeBlock(block: Block, label: string): Markup {
  switch (block.kind) {
    case 'text':
      return html`<p>${block.text}</p>`
    case 'list':
      return html`<ul>${block.items.map((item) => html`<li>${item}</li>`)}</ul>`
    case 'code': {
      const title = block.title === undefined ? undefined : html`<div class="label">${block.title}</div>`
      return html`${title}${describeCode(block.text, block.title ?? label)}`
    }
    case 'comparison': {
      const titles = block.titles ?? EXPECTED_AND_RECEIVED
      const texts = findDifference(block.expected, block.received).map(markMiddle)
      const sides = titles.map(
        (title, side) => html`<div><div class="label">${title}</div>${describeCode(texts[side], title)}</div>\n`,
      )
      return html`<div class="pair">${sides}</div>`
    }
    case 'table':
      return describeTable(block.columns, block.rows, label)
  }
}

function markMiddle([before, middle, after]: Parts): MarkupContent {
  return [before, middle === '' ? '' : html`<mark>${middle}</mark>`, after]
}

function describeTable(columns: readonly string[], rows: readonly (readonly string[])[], label: string): Markup {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`
}

function describeSection({ title, blocks }: Section): Markup {
  return html`<h2>${title}</h2>
<div class="card">${blocks.map((block) => describeBlock(block, title))}</div>
`
}

const OUTCOME_WORDS: Readonly<Record<ReportOutcome, string>> = {
  passed: 'passed',
  failed: 'failed',
  error: 'not made',
  skipped: 'skipped',
}

/** Lists failed checks first. A long list is collapsed. */
function describeChecks(checks: readonly Check[]): Markup | undefined {
  if (checks.length === 0) return undefined
  const rows = failuresFirst(checks)
  const counts = OUTCOMES.flatMap((outcome) => {
    const count = checks.filter((check) => check.outcome === outcome).length
    return count === 0 ? [] : [`${count} ${OUTCOME_WORDS[outcome]}`]
  })
  return html`<h2>Checks</h2>
<div class="card"><details${checks.length <= 20 ? new Markup(' open') : undefined}><summary>${counts.join(', ')}</summary>
<div class="scroll" tabindex="0" role="group" aria-label="Checks"><table>
<thead><tr><th scope="col">Outcome</th><th scope="col">Check</th><th scope="col">Group</th><th scope="col">Why</th></tr></thead>
<tbody>${rows.map(describeCheck)}</tbody>
</table></div></details></div>
`
}

function describeCheck({ outcome, name, group, message, findings = [] }: Check): Markup {
  return html`<tr><td><span class="badge ${outcome}">${OUTCOME_WORDS[outcome]}</span></td><td>${name}</td><td>${group}</td><td>${message ?? findings[0]?.message}</td></tr>
`
}

function describeOrigin({ startedAt, seconds }: Report, { version }: Surroundings): string {
  const when = startedAt === undefined ? '' : ` on ${startedAt.slice(0, 10)} at ${startedAt.slice(11, 19)} UTC`
  return `Made by dmarc-understudy ${version}${when}, in ${seconds.toFixed(1)} s.`
}
