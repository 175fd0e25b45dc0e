import type { MonitoredDomain } from './account.ts'
import type { Policy, RecordPin } from './dmarc.ts'

/** The labels of a domain below this name define its behaviour (RFC 6761 §6.2 reserves `test`). */
const ZONE = '.understudy.test'

const SPELLING = /\.understudy\.test\.?$/i

const POLICIES: readonly Policy[] = ['none', 'quarantine', 'reject']

/** Whether a text may be a hostname of the simulator, in any spelling. */
export function mayBeSimulated(text: string): boolean {
  return SPELLING.test(text)
}

/** The codes in the labels of a domain: `fail-duplicate-name.…`. A write fails with the first that it can have. */
export function failuresOf(name: string): string[] {
  const labels = labelsOf(name).filter((each) => each.startsWith('fail-'))
  return labels.map((label) => label.slice('fail-'.length).replaceAll('-', '_'))
}

/** `locked.…` is in use, so it cannot be removed; `p-reject.dkim-95x5.count-1200.…` has such a DMARC record. */
export function simulatedTraits(name: string): Partial<MonitoredDomain> {
  const labels = labelsOf(name)
  const pin = Object.assign({}, ...labels.map(pinOf)) as RecordPin
  return {
    ...(labels.includes('locked') && { features: ['simulator'] }),
    ...(Object.keys(pin).length > 0 && { pin }),
  }
}

function labelsOf(name: string): string[] {
  return name.endsWith(ZONE) ? name.slice(0, -ZONE.length).split('.') : []
}

function pinOf(label: string): RecordPin {
  const [, field, value = ''] = /^(p|sp|np|testing|pct|dmarc|dkim|spf|count)-([a-z0-9]+)$/.exec(label) ?? []
  const policy = POLICIES.find((each) => each === value)
  // A label cannot contain a decimal point.
  const number = /^\d{1,9}(x\d{1,3})?$/.test(value) ? Number(value.replace('x', '.')) : undefined
  switch (field) {
    case 'p':
    case 'sp':
    case 'np':
      return policy === undefined ? {} : { [field]: policy }
    case 'testing':
      return value === 'y' || value === 'n' ? { testing: value } : {}
    case 'dmarc':
    case 'dkim':
    case 'spf':
      return number === undefined || number > 100 ? {} : { [field]: number }
    case 'pct':
      return number === undefined || number > 100 || !Number.isInteger(number) ? {} : { pct: number }
    case 'count':
      return number === undefined || !Number.isInteger(number) ? {} : { count: number }
    default:
      return {}
  }
}
