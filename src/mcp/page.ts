import { isObject } from '../ground/json.ts'
import { type AnswerExtent, CHARACTERS, measureBriefly, type ToolAnswer, writeAnswer } from './answer.ts'

/**
 * The answer with a page of a list, as large as fits with brief texts, because a reader wants to see many items. If all
 * items do not fit, a smaller page is read, so that its `next` is right.
 */
export async function writePage(
  read: (limit: string) => Promise<unknown>,
  asked: { limit: string; isGiven: boolean },
  extent: AnswerExtent,
  aside: readonly string[] = [],
): Promise<ToolAnswer> {
  // A reader of a part points into the page that it knows.
  const isKnown = extent.part !== '' && asked.isGiven
  const characters = extent.part === '' ? extent.characters : CHARACTERS.usual
  for (let { limit } = asked; ; ) {
    const data = await read(limit)
    const items = isObject(data) && 'next' in data ? Object.values(data).find((each) => Array.isArray(each)) : undefined
    const size = measureBriefly(data, aside)
    if (isKnown || items === undefined || items.length <= 1 || size <= characters) {
      return writeAnswer(data, extent, { aside, again: { limit } })
    }
    limit = String(Math.max(1, Math.floor((items.length * characters * 0.9) / size)))
  }
}
