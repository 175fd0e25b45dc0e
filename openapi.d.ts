/**
 * The types of `dmarc-understudy/openapi.yaml` and `dmarc-understudy/openapi.tolerant.yaml`. What an import of YAML gives,
 * such as its text, its address or the parsed document, depends on the bundler. Node.js imports no YAML:
 * `import.meta.resolve('dmarc-understudy/openapi.yaml')` gives the address of the file.
 */
declare const document: unknown
// biome-ignore lint/style/noDefaultExport: bundlers give what they make of a file as its default export
export default document
