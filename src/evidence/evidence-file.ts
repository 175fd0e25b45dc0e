import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { type ChoiceObservation, EVIDENCE_KEPT, Observations } from '../choices/observation.ts'
import { decideVerdicts } from '../choices/verdicts.ts'
import type { Conclusion } from '../conformance/investigation.ts'
import type { Choices } from '../contract/choices.ts'
import type { Contract } from '../contract/contract.ts'
import { NAMES } from '../contract/extensions.ts'
import { systemClock } from '../ground/clock.ts'
import { isObject, parseJson } from '../ground/json.ts'
import { memoize, memoizeWeakly } from '../ground/memo.ts'
import { isDeeperThan } from '../ground/nesting.ts'
import { shorten } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import { runAtOnce } from '../ground/work.ts'
import { type Redact, redactorForAll, redactTarget } from '../journal/redaction/redaction.ts'
import { Secrets } from '../journal/redaction/secrets.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import type { AssumptionVerdict } from '../judge/verdict.ts'
import { writeTarget } from '../reports/targets.ts'
import { checkContent, EvidenceError, readText } from './evidence-input.ts'
import { EVIDENCE_LIMITS, EVIDENCE_SCHEMA, FORMAT, FORMAT_VERSION } from './evidence-schema.ts'

/** The content of an evidence file, as `docs/schemas/evidence.json` describes it. */
export interface EvidenceContent {
  format: typeof FORMAT
  format_version: number
  tool: EvidenceTool
  /** RFC 3339, in UTC. */
  written_at: string
  contract: { digest: string; overlays: readonly string[] }
  targets?: readonly string[]
  counts: {
    exchanges: number
    judged: number
    findings: Readonly<Record<string, number>>
    omitted?: { observations?: number; findings?: number }
  }
  observations: readonly ChoiceObservation[]
  findings: readonly JudgedDifference[]
  messages: Readonly<Record<string, readonly string[]>>
  verdicts: readonly AssumptionVerdict[]
}

type EvidenceTool = 'check' | 'proxy' | 'verify' | 'calibrate'

export interface EvidenceOptions {
  tool: EvidenceTool
  choices: Choices
  /** The file names of the overlays of `choices`. */
  overlays?: readonly string[]
  /** URLs of the service; only their origin is kept. */
  targets?: readonly string[]
  /** All known keys and other secrets. None of them will be in the file. */
  secrets?: readonly string[]
  /** In milliseconds since the Unix epoch; now by default. */
  at?: number
}

/** Describes the conclusion as evidence. It contains no key, and nothing that looks like a key. */
export function describeEvidence(conclusion: Conclusion, options: EvidenceOptions): EvidenceContent {
  const { tool, choices, overlays = [], targets = [], secrets = [], at = systemClock() } = options
  const { counts, messages, exchanges, judged } = conclusion
  const limits = EVIDENCE_LIMITS
  const show = foreignTextWriter(secrets)
  const origins = unique(targets.flatMap(originOf))
  const observations = conclusion.observations.filter(hasRoom).slice(0, limits.observations)
  const findings = conclusion.findings.slice(0, limits.findings)
  const omitted = {
    ...leftOut('observations', conclusion.observations.length - observations.length),
    ...leftOut('findings', conclusion.findings.length - findings.length),
  }
  const showEvidence = <Shown extends { evidence: readonly string[] }>(shown: Shown): Shown => ({
    ...shown,
    evidence: shown.evidence.map(show),
  })
  return {
    format: FORMAT,
    format_version: FORMAT_VERSION,
    tool,
    written_at: new RealDate(at).toISOString(),
    contract: {
      digest: digestOf(choices),
      overlays: overlays.slice(0, limits.overlays).map((each) => show(basename(each))),
    },
    ...(origins.length > 0 && { targets: origins.slice(0, 100).map(show) }),
    counts: {
      exchanges,
      judged,
      findings: Object.fromEntries(
        Object.entries(counts)
          .slice(0, limits.kinds)
          .map(([id, count]) => [show(id), count]),
      ),
      ...(Object.keys(omitted).length > 0 && { omitted }),
    },
    observations: observations.map(showEvidence),
    findings: findings.map((finding) => showFinding(finding, show)),
    messages: Object.fromEntries(
      Object.entries(messages)
        .slice(0, limits.codes)
        .map(([code, texts]) => [show(code), texts.slice(0, limits.messages).map(show)]),
    ),
    verdicts: decideVerdicts(conclusion.observations, choices).map(showEvidence),
  }
}

/** Only what others have written can hold a secret, and is redacted: a key may be a word that this program uses. */
function showFinding(finding: JudgedDifference, show: Redact): JudgedDifference {
  // The file has no field for a body.
  const { asked: _, answered: __, ...kept } = finding
  const { id, request_id: requestId, method, path, message, overlay } = finding
  return {
    ...kept,
    id: show(id),
    ...(requestId !== undefined && { request_id: show(requestId) }),
    method: show(method),
    path: show(redactTarget(path, show)),
    message: show(message),
    ...(overlay !== undefined && { overlay: show(overlay) }),
  }
}

function leftOut(what: 'observations' | 'findings', count: number) {
  return count > 0 ? { [what]: count } : {}
}

/**
 * Writes the conclusion atomically to a file that only its owner can read, so that no reader sees half of it.
 * @throws EvidenceError if the file cannot be written
 */
export async function writeEvidence(file: string, conclusion: Conclusion, options: EvidenceOptions): Promise<void> {
  const text = `${JSON.stringify(describeEvidence(conclusion, options))}\n`
  const reason = await writeTarget(file, text, OWNER_ONLY)
  if (reason !== undefined) throw new EvidenceError(file, '', `The evidence ${reason}.`)
}

const OWNER_ONLY = 0o600
/** How many levels of objects and lists the schema permits. */
const DEPTH = 6

/**
 * Reads an evidence file. It must be about the contract of `choices`: with other choices, the numbers of alternatives
 * have another meaning. @throws EvidenceError
 */
export async function readEvidence(file: string, choices: Choices): Promise<EvidenceContent> {
  const text = await readText(file, EVIDENCE_LIMITS.bytes, 'evidence')
  const found = parseJson(text, (reason) => new EvidenceError(file, '', reason))
  const fail = (pointer: string, reason: string) => new EvidenceError(file, pointer, reason)
  if (!isObject(found) || found['format'] !== FORMAT) {
    throw fail('', 'This is no evidence file; verify, check and proxy write one with --evidence FILE.')
  }
  const { format_version: version } = found
  if (typeof version === 'number' && version > FORMAT_VERSION) {
    const reason = `The format ${version} is newer than this program, which reads ${FORMAT_VERSION}; install a newer one.`
    throw fail('/format_version', reason)
  }
  if (runAtOnce(isDeeperThan(DEPTH, found))) throw fail('', 'The values are nested too deeply for an evidence file.')
  await checkContent(file, EVIDENCE_SCHEMA, found)
  const evidence = found as unknown as EvidenceContent
  const problem = findForeign(evidence, choices)
  if (problem !== undefined) throw fail(...problem)
  return evidence
}

/** Joins several files. @throws EvidenceError if there is none, or if the files are about different contracts */
export function mergeEvidence(
  files: readonly { file: string; evidence: EvidenceContent }[],
  choices: Choices,
  at = systemClock(),
): EvidenceContent {
  const [first] = files
  if (first === undefined) throw new EvidenceError('--evidence', '', 'There is no evidence; name at least one file.')
  const observations = new Observations()
  const findings: JudgedDifference[] = []
  const listed: Record<string, number> = Object.create(null)
  const counts: Record<string, number> = Object.create(null)
  const messages: Record<string, string[]> = Object.create(null)
  const total = { exchanges: 0, judged: 0 }
  for (const { file, evidence } of files) {
    if (evidence.contract.digest !== first.evidence.contract.digest) {
      const reason = `This is evidence about another contract than that of ${first.file}.`
      throw new EvidenceError(file, '/contract/digest', reason)
    }
    for (const observation of evidence.observations) observations.add(observation)
    for (const finding of evidence.findings) {
      listed[finding.id] = (listed[finding.id] ?? 0) + 1
      if ((listed[finding.id] ?? 0) <= EVIDENCE_KEPT) findings.push(finding)
    }
    for (const [id, count] of Object.entries(evidence.counts.findings)) counts[id] = (counts[id] ?? 0) + count
    for (const [code, texts] of Object.entries(evidence.messages)) {
      messages[code] = unique([...(messages[code] ?? []), ...texts])
    }
    total.exchanges += evidence.counts.exchanges
    total.judged += evidence.counts.judged
  }
  const { overlays } = first.evidence.contract
  const targets = files.flatMap(({ evidence }) => evidence.targets ?? [])
  return describeEvidence(
    { ...total, findings, counts, observations: observations.all, messages },
    { tool: 'calibrate', choices, overlays, targets, at },
  )
}

/** Identifies the meaning of a contract: openapi.yaml with its overlays, without texts that are only for readers. */
export function digestOf({ contract }: Pick<Choices, 'contract'>): string {
  return computeDigest(contract)
}

const computeDigest = memoizeWeakly(({ document }: Contract) =>
  createHash('sha256')
    .update(JSON.stringify(meaningOf(document.source, false)))
    .digest('hex'),
)

/** The fields of a description that are only for readers. */
const FOR_READERS = new Set('description summary title example examples spec reason unobservable info'.split(' '))

function meaningOf(value: unknown, keysAreNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => meaningOf(item, false))
  if (!isObject(value)) return value
  return Object.entries(value)
    .filter(([key]) => keysAreNames || !FOR_READERS.has(key))
    .map(([key, item]) => [key, meaningOf(item, NAMES.has(key) && !keysAreNames)])
}

/** Why evidence does not belong to these choices, with the place in the file. */
function findForeign(
  { contract, observations }: EvidenceContent,
  choices: Choices,
): readonly [pointer: string, reason: string] | undefined {
  const highest = new Map(choices.ids.map((id) => [id, 0]))
  for (const { id, number } of choices.alternatives) highest.set(id, Math.max(highest.get(id) ?? 0, number))
  for (const [index, { allows }] of observations.entries()) {
    const scope = Object.keys(allows[0] ?? {})
    for (const [place, assignment] of allows.entries()) {
      const at = `/observations/${index}/allows/${place}`
      const entries = Object.entries(assignment)
      for (const [id, number] of entries) {
        const most = highest.get(id)
        if (most === undefined) {
          return [`${at}/${id}`, `The contract has no assumption ${shorten(id)}. ${OTHER_CONTRACT}`]
        }
        if (number > most) {
          return [`${at}/${id}`, `The assumption ${id} has ${most} alternatives, not ${number}. ${OTHER_CONTRACT}`]
        }
      }
      if (entries.length !== scope.length || !scope.every((id) => Object.hasOwn(assignment, id))) {
        return [at, `Every combination names the same assumptions, here ${scope.join(', ')}.`]
      }
    }
  }
  if (contract.digest === digestOf(choices)) return undefined
  const { overlays } = contract
  const made =
    overlays.length === 0
      ? 'It was made without an overlay, maybe with another version of this program'
      : `It was made with the overlay ${overlays.map((each) => shorten(each)).join(', ')}; give the same with --overlay`
  return ['/contract/digest', `This is evidence about another contract. ${made}.`]
}

const OTHER_CONTRACT = 'This is evidence about another contract; give the overlays with which it was made.'

/** A function for texts of others: without anything that is or looks like a secret, and cut to the limit. */
function foreignTextWriter(secrets: readonly string[]): Redact {
  const redact = redactorForAll(new Secrets(secrets.filter((secret) => secret !== '')))
  // The same ids occur in many observations.
  const show: Redact = (text) => shorten(redact(text).replaceAll(BEARER, '$1 [redacted]'), EVIDENCE_LIMITS.text)
  return memoize(show, { limit: 10_000 })
}

/** A key after its scheme, as a message may quote it. */
const BEARER = /\b(bearer|basic)\s+(?!\[redacted\])[^\s"'`]{6,}/gi

function hasRoom({ allows }: ChoiceObservation): boolean {
  return (
    allows.length > 0 &&
    allows.length <= EVIDENCE_LIMITS.combinations &&
    Object.keys(allows[0] ?? {}).length <= EVIDENCE_LIMITS.assumptions
  )
}

/** The origin of a URL, without credentials. */
function originOf(url: string): string[] {
  return URL.canParse(url) ? [new URL(url).origin] : []
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
