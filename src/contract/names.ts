/** One of the names of openapi.yaml, or any other name from an overlay. An editor suggests the names. */
export type Open<Name extends string> = Name | (string & {})

/** The plans of openapi.yaml, from the lowest to the highest. */
export type Plan = 'below-stone' | 'stone' | 'above-stone'

/** The quotas of openapi.yaml. The name is the first segment of the path. */
export type Bucket = 'dmarc' | 'domains' | 'domaingroups'
