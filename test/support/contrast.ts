/** An expression: the visible texts whose contrast with their background is too low for WCAG 2, each with its contrast. */
export const FAINT_TEXTS = `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true })
  const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = text
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  const luminance = ([...rgb]) => rgb.slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0)
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const behind = colour(getComputedStyle(each).backgroundColor)
      if (behind[3] === 255) return behind
    }
    return colour('canvas')
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const faint = []
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    if (walker.currentNode.data.trim() === '' || !element.checkVisibility() || element.closest(':disabled, script, style')) continue
    const [one, other] = [luminance(colour(getComputedStyle(element).color)), luminance(ground(element))].sort((a, b) => b - a)
    const contrast = (one + 0.05) / (other + 0.05)
    if (contrast < 4.5) faint.push(walker.currentNode.data.trim() + ' ' + contrast.toFixed(2))
  }
  return faint
})()`
