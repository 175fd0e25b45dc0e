import openapiTypescript, { astToString } from 'openapi-typescript'

/** TypeScript types of an OpenAPI document, as somebody makes them for a client. */
export async function writeTypes(document: URL): Promise<string> {
  return astToString(await openapiTypescript(document))
}
