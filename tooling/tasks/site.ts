/**
 * Builds the documentation site into `dist/site`, or the folder `--out`. `--base` is the path below which it is served,
 * such as `/tutti/0.1/` for an older version.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { buildSite } from '../site/build-site.ts'

const { values } = parseArgs({
  options: { out: { type: 'string', default: 'dist/site' }, base: { type: 'string' } },
})
const { out, base } = values
if (base !== undefined && !/^\/(?:.*\/)?$/.test(base)) {
  console.error(
    `Invalid --base "${base}": expected a path with a slash at both ends, such as /0.1/`,
  )
  process.exit(2)
}
const count = await buildSite({ out: resolve(out), ...(base === undefined ? {} : { base }) })
console.log(`Wrote ${count} pages to ${out}`)
