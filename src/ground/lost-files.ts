/** What the program says where it was separated from its files. The build reads it, too, as JavaScript: it has no types. */
export const LOST_FILES =
  'dmarc-understudy does not find its own files, because it was bundled or copied without them. Keep it out of the bundle, ' +
  "and install it where the bundle runs. Next.js: serverExternalPackages: ['dmarc-understudy']; esbuild: " +
  "--external:dmarc-understudy; webpack: externals: { 'dmarc-understudy': 'commonjs dmarc-understudy' }; Rollup: external: " +
  "[/^dmarc-understudy/]; Vite: ssr.external: ['dmarc-understudy']."
