/** A sentence in which backticks stand around code. The code is shown as such, without the backticks. */
export function CodeText({ text }: { text: string }) {
  const parts = text.split('`')
  // Without its partner, a backtick is a character of the sentence.
  if (parts.length % 2 === 0) return <bdi>{text}</bdi>
  return <bdi>{parts.map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))}</bdi>
}
