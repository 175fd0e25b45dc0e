/** A mistake in how the program was called: one line that names the option, the value and what would be right. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** A start that failed for a reason that a person can remove. */
export class StartError extends Error {
  override name = 'StartError'
}
