import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Choices } from '../contract/choices.ts'
import { isObject, parseJson } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import { shorten } from '../ground/show.ts'
import { RealDate, systemClock } from '../ground/timers.ts'
import { type Redact, redactorForAll, redactTarget } from '../journal/redaction/redaction.ts'
import { Secrets } from '../journal/redaction/secrets.ts'
import type { KeptFinding } from '../judge/finding.ts'
import type { Conclusion } from '../judge/judge.ts'
import { type ChoiceObservation, EVIDENCE_KEPT } from '../judge/open-choice.ts'
import { writeTarget } from '../reports/targets.ts'
import { checkContent, EvidenceError, readText } from './evidence-input.ts'

/** What was seen of a service, from which a calibration follows. */
export interface SeenChoices {
  contract: { digest: string; overlays: readonly string[] }
  /** The origins of the services that were seen. */
  targets: readonly string[]
  exchanges: number
  judged: number
  observations: readonly ChoiceObservation[]
  /** The texts of messages, by error code or by `operationId` of a success. */
  messages: Readonly<Record<string, readonly string[]>>
}

/** The content of an evidence file, as `docs/schemas/evidence.json` describes it. It has no header field and no body. */
export interface Evidence extends SeenChoices {
  format: typeof FORMAT
  format_version: number
  tool: EvidenceTool
  /** RFC 3339, in UTC. */
  written_at: string
  findings: readonly Omit<KeptFinding, 'asked' | 'answered'>[]
}

type EvidenceTool = 'check' | 'proxy' | 'verify' | 'calibrate'

type Concluded = Omit<Conclusion, 'answers'>

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

const FORMAT = 'dmarc-understudy evidence'
/** The version of the format. A file of another version may have content that this program does not know. */
const FORMAT_VERSION = 2
const LARGEST_EVIDENCE = 64 << 20
/** The most characters of a text in it. */
const LONGEST = 2000
const OWNER_ONLY = 0o600

/** Describes the conclusion as evidence. It contains no key, and nothing that looks like a key. */
export function describeEvidence(conclusion: Concluded, options: EvidenceOptions): Evidence {
  const { tool, choices, overlays = [], targets = [], secrets = [], at = systemClock() } = options
  const { exchanges, judged, observations, findings, messages } = conclusion
  const show = foreignTextWriter(secrets)
  return {
    format: FORMAT,
    format_version: FORMAT_VERSION,
    tool,
    written_at: new RealDate(at).toISOString(),
    contract: { digest: digestOf(choices), overlays: overlays.map((each) => show(basename(each))) },
    targets: unique(targets.flatMap(originOf)).map(show),
    exchanges,
    judged,
    observations: observations.map((each) => ({ ...each, evidence: each.evidence.map(show) })),
    findings: findings.map((finding) => showFinding(finding, show)),
    messages: Object.fromEntries(Object.entries(messages).map(([of, texts]) => [show(of), texts.map(show)])),
  }
}

/** Only what others have written can hold a secret, and is redacted: a key may be a word that this program uses. */
function showFinding(finding: KeptFinding, show: Redact): Evidence['findings'][number] {
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

/**
 * Writes the conclusion atomically to a file that only its owner can read, so that no reader sees half of it.
 * @throws EvidenceError if the file cannot be written
 */
export async function writeEvidence(file: string, conclusion: Concluded, options: EvidenceOptions): Promise<void> {
  const text = `${JSON.stringify(describeEvidence(conclusion, options))}\n`
  const reason = await writeTarget(file, text, OWNER_ONLY)
  if (reason !== undefined) throw new EvidenceError(file, '', `${reason}.`)
}

/**
 * Reads an evidence file. It must be about these choices: with others, the numbers of alternatives have another meaning.
 * @throws EvidenceError
 */
export async function readEvidence(file: string, choices: Choices): Promise<Evidence> {
  const fail = (pointer: string, reason: string) => new EvidenceError(file, pointer, reason)
  const found = parseJson(await readText(file, LARGEST_EVIDENCE, 'evidence'), (reason) => fail('', reason))
  if (!isObject(found) || found['format'] !== FORMAT) {
    throw fail('', 'This is no evidence file; verify, check and proxy write one with --evidence FILE.')
  }
  if (found['format_version'] !== FORMAT_VERSION) {
    throw fail('/format_version', `Another version of this program has made it; ${AGAIN}.`)
  }
  await checkContent(file, 'evidence', found)
  const evidence = found as unknown as Evidence
  const { digest, overlays } = evidence.contract
  if (digest === digestOf(choices)) return evidence
  const names = overlays.map((each) => shorten(each)).join(', ')
  const made = names === '' ? 'without an overlay: give none' : `with the overlay ${names}: give the same`
  throw fail('/contract/digest', `This is evidence about other choices, made ${made}, or ${AGAIN}.`)
}

const AGAIN = 'make the evidence again with check, proxy or verify'

/** Puts evidence about the same choices together. */
export function joinEvidence(one: SeenChoices, other: SeenChoices): SeenChoices {
  const messages = new Map(Object.entries(one.messages))
  for (const [of, texts] of Object.entries(other.messages))
    messages.set(of, unique([...(messages.get(of) ?? []), ...texts]))
  return {
    contract: one.contract,
    targets: unique([...one.targets, ...other.targets]),
    exchanges: one.exchanges + other.exchanges,
    judged: one.judged + other.judged,
    observations: joinObservations([...one.observations, ...other.observations]),
    messages: Object.fromEntries(messages),
  }
}

/** Joins equal observations. The exchanges of the first ones stay as evidence. */
function joinObservations(all: readonly ChoiceObservation[]): ChoiceObservation[] {
  const joined = new Map<string, ChoiceObservation>()
  for (const each of all) {
    const key = `${each.id} ${each.permits.join()}`
    const known = joined.get(key)
    const evidence = unique([...(known?.evidence ?? []), ...each.evidence]).slice(0, EVIDENCE_KEPT)
    joined.set(key, { ...known, ...each, evidence, count: each.count + (known?.count ?? 0) })
  }
  return [...joined.values()]
}

/** Identifies what the numbers of alternatives mean. */
export function digestOf({ assumptions }: Pick<Choices, 'assumptions'>): string {
  const meaning = assumptions.map(({ id, choice, alternatives }) => [id, choice, alternatives])
  return createHash('sha256').update(JSON.stringify(meaning)).digest('hex')
}

/** A function for texts of others: without anything that is or looks like a secret, and cut to the limit. */
function foreignTextWriter(secrets: readonly string[]): Redact {
  const redact = redactorForAll(new Secrets(secrets.filter((secret) => secret !== '')))
  // The same ids occur in many observations.
  const show: Redact = (text) => shorten(redact(text).replaceAll(BEARER, '$1 [redacted]'), LONGEST)
  return memoize(show, { limit: 10_000 })
}

/** A key after its scheme, as a message may quote it. */
const BEARER = /\b(bearer|basic)\s+(?!\[redacted\])[^\s"'`]{6,}/gi

/** The origin of a URL, without credentials. */
function originOf(url: string): string[] {
  return URL.canParse(url) ? [new URL(url).origin] : []
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
