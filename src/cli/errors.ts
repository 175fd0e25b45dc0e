/** A mistake in the command line. The message is one line with the option, the value and a correct alternative. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** A start that failed for a reason that the user can fix. */
export class StartError extends Error {
  override name = 'StartError'
}
