import type { Page } from 'playwright-core'

/**
 * What is wrong with the layout of what a page shows now: that the page scrolls sideways, controls that are too small to
 * touch, labels of one word and shares that are broken into lines, texts that are cut off, texts that lie upon each
 * other, and controls that something lies upon.
 */
export function findLayoutProblems(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(FIND)
}

/** The least height and width of what is touched or clicked, in CSS pixels. Width counts less: a tab may be narrow. */
const [LEAST_HEIGHT, LEAST_WIDTH] = [32, 24]

const FIND = `(() => {
  const problems = []
  const name = (element) => {
    const words = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().replace(/\\s+/g, ' ')
    const id = element.id ? '#' + element.id : element.classList.length > 0 ? '.' + [...element.classList].join('.') : ''
    return element.localName + id + ' “' + words.slice(0, 60) + '”'
  }
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true })
  // While a dialog is open that lies upon everything, only what is in it counts.
  const modal = [...document.querySelectorAll('dialog:modal')].at(-1)
  const root = modal ?? document.body

  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) {
    const wide = [...document.querySelectorAll('body *')].filter((each) => isShown(each) && each.getBoundingClientRect().right > clientWidth + 1)
    problems.push('the page is ' + (scrollWidth - clientWidth) + ' px too wide: ' + wide.slice(-3).map(name).join(', '))
  }
  if (modal !== undefined && modal.scrollWidth > modal.clientWidth + 1) problems.push('scrolls sideways: ' + name(modal))

  /** The part of a box that can be seen: boxes around it may hide the rest. Undefined if nothing is left. */
  const clip = (box, element) => {
    let { left, top, right, bottom } = box
    for (let each = element; each !== null && each !== document.body; each = each.parentElement) {
      const style = getComputedStyle(each)
      if (style.clipPath !== 'none' || (style.clip !== 'auto' && style.position === 'absolute')) return undefined
      if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
        const outer = each.getBoundingClientRect()
        left = Math.max(left, outer.left)
        top = Math.max(top, outer.top)
        right = Math.min(right, outer.right)
        bottom = Math.min(bottom, outer.bottom)
      }
      if (style.position === 'fixed') break
    }
    return right - left > 1 && bottom - top > 1 ? { left, top, right, bottom } : undefined
  }

  const controls = root.querySelectorAll('button, a[href], input, select, textarea, summary, [role=tab], [role=button], [role=slider], [tabindex="0"][role]')
  for (const control of controls) {
    if (!isShown(control) || control.type === 'hidden' || control.matches('a.skip')) continue
    const isInText = control.localName === 'a' && getComputedStyle(control).display === 'inline' && control.parentElement.textContent.trim() !== control.textContent.trim()
    if (isInText || ['group', 'region', 'tabpanel', 'img'].includes(control.role ?? control.getAttribute('role'))) continue
    const touched = ['checkbox', 'radio'].includes(control.type) ? (control.closest('label') ?? control) : control
    const box = touched.getBoundingClientRect()
    if (clip(box, touched.parentElement) === undefined) continue
    if (box.height < ${LEAST_HEIGHT} - 0.5 || box.width < ${LEAST_WIDTH} - 0.5) {
      problems.push('too small to touch, ' + Math.round(box.width) + ' × ' + Math.round(box.height) + ': ' + name(touched))
    }
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue
    const top = document.elementFromPoint(x, y)
    const inside = clip(box, touched.parentElement)
    if (inside === undefined || x < inside.left || x > inside.right || y < inside.top || y > inside.bottom) continue
    if (top !== null && !touched.contains(top) && !top.contains(touched) && !isFloating(top)) problems.push(name(top) + ' lies upon ' + name(touched))
  }

  /** Bars and notes that stay where they are while the page scrolls below them. */
  function isFloating(element) {
    for (let each = element; each !== null && each !== root; each = each.parentElement) {
      if (['fixed', 'sticky'].includes(getComputedStyle(each).position)) return true
    }
    return false
  }

  /** The box that hides a part of a line of text and can neither be scrolled nor says by an ellipsis that there is more. */
  function cutting(line, element) {
    for (let each = element; each !== null && each !== root; each = each.parentElement) {
      const { overflowX, overflowY, textOverflow, webkitLineClamp } = getComputedStyle(each)
      if (textOverflow === 'ellipsis' || webkitLineClamp !== 'none' || /auto|scroll/.test(overflowX + overflowY)) return undefined
      if (overflowX === 'visible' && overflowY === 'visible') continue
      const outer = each.getBoundingClientRect()
      if (line.right > outer.right + 1 || line.left < outer.left - 1 || line.bottom > outer.bottom + 3 || line.top < outer.top - 3) return each
    }
    return undefined
  }

  const texts = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode
    const element = node.parentElement
    if (node.data.trim() === '' || !isShown(element) || element.closest('svg, script, style, option, noscript')) continue
    const style = getComputedStyle(element)
    const range = document.createRange()
    range.selectNodeContents(node)
    const isWhole = (element.localName === 'label' && !node.data.trim().includes(' ')) || /^[\\d.]+ %$/.test(node.data)
    if (isWhole && range.getClientRects().length > 1) problems.push('is broken into lines: ' + name(element))
    for (const line of range.getClientRects()) {
      const seen = clip(line, element)
      if (seen === undefined) continue
      const cut = cutting(line, element)
      if (cut !== undefined) problems.push('is cut off by ' + name(cut) + ': “' + node.data.trim().slice(0, 60) + '”')
      if (!isFloating(element)) texts.push({ ...seen, element, words: node.data.trim().slice(0, 40) })
    }
  }
  texts.sort((one, other) => one.top - other.top)
  for (const [index, one] of texts.entries()) {
    for (let next = index + 1; next < texts.length && texts[next].top < one.bottom - 4; next++) {
      const other = texts[next]
      if (one.element === other.element || one.element.contains(other.element) || other.element.contains(one.element)) continue
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
      if (width > 3 && height > 4) problems.push('“' + one.words + '” lies upon “' + other.words + '” in ' + name(one.element.parentElement))
    }
  }
  return [...new Set(problems)].slice(0, 20)
})()`
