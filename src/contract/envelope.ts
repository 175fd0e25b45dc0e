/** The content of an error response. The control plane adds more to it. */
export interface ErrorContent {
  code: string
  message: string
}

/** The envelope of every error response, of the service and of the control plane. No other module writes one. */
export interface ErrorEnvelope<Content extends ErrorContent = ErrorContent> {
  success: false
  error: Content
}

/** Source: "`{success: false, error: {code: string, message: string}}` on failure". */
export function errorEnvelope<Content extends ErrorContent>(error: Content): ErrorEnvelope<Content> {
  return { success: false, error }
}
