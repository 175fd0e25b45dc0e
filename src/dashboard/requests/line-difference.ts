/** A line that is in both texts, only in the first (`sent`), or only in the second (`accepted`). */
export interface ComparedLine {
  kind: 'same' | 'sent' | 'accepted'
  text: string
}

/** The most pairs of lines that are compared with each other. Beyond it, everything between the equal ends differs. */
const PAIRS = 250_000

/** The lines of both texts in order. A changed line is first the sent one, and then the accepted one. */
export function compareLines(sent: readonly string[], accepted: readonly string[]): ComparedLine[] {
  let start = 0
  while (start < sent.length && start < accepted.length && sent[start] === accepted[start]) start++
  let end = 0
  const most = Math.min(sent.length, accepted.length) - start
  while (end < most && sent.at(-1 - end) === accepted.at(-1 - end)) end++
  const same = (lines: readonly string[]) => lines.map((text): ComparedLine => ({ kind: 'same', text }))
  return [
    ...same(sent.slice(0, start)),
    ...compareMiddles(sent.slice(start, sent.length - end), accepted.slice(start, accepted.length - end)),
    ...same(sent.slice(sent.length - end)),
  ]
}

function compareMiddles(sent: readonly string[], accepted: readonly string[]): ComparedLine[] {
  const lines: ComparedLine[] = []
  const lengths = sent.length * accepted.length > PAIRS ? undefined : commonLengths(sent, accepted)
  let [one, other] = [0, 0]
  while (one < sent.length && other < accepted.length && lengths !== undefined) {
    const [here, there] = [sent[one] ?? '', accepted[other] ?? '']
    if (here === there) {
      lines.push({ kind: 'same', text: here })
      one++
      other++
    } else if ((lengths[one + 1]?.[other] ?? 0) >= (lengths[one]?.[other + 1] ?? 0)) {
      lines.push({ kind: 'sent', text: here })
      one++
    } else {
      lines.push({ kind: 'accepted', text: there })
      other++
    }
  }
  for (const text of sent.slice(one)) lines.push({ kind: 'sent', text })
  for (const text of accepted.slice(other)) lines.push({ kind: 'accepted', text })
  return lines
}

/** By the index in both lists, the length of the longest list of lines that both have from there on, in this order. */
function commonLengths(sent: readonly string[], accepted: readonly string[]): number[][] {
  const lengths = Array.from({ length: sent.length + 1 }, () => new Array<number>(accepted.length + 1).fill(0))
  for (let one = sent.length - 1; one >= 0; one--) {
    for (let other = accepted.length - 1; other >= 0; other--) {
      const [row = [], next = []] = [lengths[one], lengths[one + 1]]
      row[other] =
        sent[one] === accepted[other] ? (next[other + 1] ?? 0) + 1 : Math.max(next[other] ?? 0, row[other + 1] ?? 0)
    }
  }
  return lengths
}
