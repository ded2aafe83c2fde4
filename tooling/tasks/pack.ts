/** Packs every public package into `packed/`, so that a project can use a clone before the packages are published. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { packPackages } from '../packages/pack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TARGET = join(ROOT, 'packed')

rmSync(TARGET, { recursive: true, force: true })
const tarballs = await packPackages(TARGET)
console.log(
  `Packed ${tarballs.size} packages. To use them, run in the folder of your project:\n\n` +
    `  npm install ${join(TARGET, '*.tgz')}\n\n` +
    'To create a project:\n\n' +
    `  node ${join(ROOT, 'packages/create-tutti/dist/create-tutti.js')} desk --no-install`,
)
