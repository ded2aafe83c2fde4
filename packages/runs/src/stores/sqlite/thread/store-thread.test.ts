import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

it('The thread of the store loads no schemas, so that it starts quickly', () => {
  const served = fileURLToPath(new URL('serve-store.ts', import.meta.url))
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({
      load(url, context, next) {
        loaded.push(url)
        return next(url, context)
      },
    })
    await import(${JSON.stringify(served)})
    console.log(JSON.stringify(loaded))`
  const node = ['--conditions=@tutti/source', '--input-type=module', '--eval', script]
  const { stdout } = spawnSync(process.execPath, node, { encoding: 'utf8' })
  const loaded: readonly string[] = JSON.parse(stdout)
  expect(loaded).toContainEqual(expect.stringContaining('sqlite/open-store.ts'))
  expect(loaded.filter((url) => url.includes('typebox'))).toEqual([])
})
