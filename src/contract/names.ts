/** One of the names of openapi.yaml, or any other name: an overlay can have others. An editor proposes the names. */
export type Open<Name extends string> = Name | (string & {})

/** The plans of openapi.yaml, from the lowest to the highest. */
export type Plan = 'below-stone' | 'stone' | 'above-stone'

/** The quotas of openapi.yaml, named as the first segment of their paths. */
export type Bucket = 'dmarc' | 'domains' | 'domaingroups'
