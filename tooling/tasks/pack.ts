/** Packs every public package into `packed/`, so that a project can use a clone before the packages are published. */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { packPackages } from '../packages/pack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TARGET = join(ROOT, 'packed')

const tarballs = [...(await packPackages()).values()]
rmSync(TARGET, { recursive: true, force: true })
mkdirSync(TARGET)
for (const path of tarballs) copyFileSync(path, join(TARGET, basename(path)))
console.log(
  `Packed ${tarballs.length} packages. To use them, run in the folder of your project:\n\n` +
    `  npm install ${join(TARGET, '*.tgz')}\n\n` +
    'To create a project:\n\n' +
    `  node ${join(ROOT, 'packages/create-tutti/dist/create-tutti.js')} desk --no-install`,
)
