import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

/** Third-party packages that each built package may load when only its entry point is imported. */
const MAY_LOAD: Readonly<Record<string, readonly string[]>> = {
  protocol: ['typebox'],
  core: ['typebox'],
  'agent-call': ['typebox'],
  net: ['typebox'],
  mcp: ['typebox'],
  pipeline: ['typebox'],
  'builtin-tools': ['typebox'],
  'remote-tools': ['typebox'],
  'agent-tool': ['typebox'],
  ensemble: ['typebox'],
  testing: ['typebox'],
  client: ['typebox', 'eventsource-parser'],
  langchain: ['typebox'],
  runs: ['typebox'],
  gateway: ['typebox'],
  telemetry: ['typebox', '@opentelemetry/api', '@opentelemetry/semantic-conventions'],
}

/** Packages that also run in browsers. */
const NEUTRAL = ['protocol', 'core', 'agent-call', 'pipeline', 'ensemble', 'testing', 'client']

describe('importing a built package', () => {
  it.each(Object.entries(MAY_LOAD))('%s loads only %j', (name, allowed) => {
    const loaded = loadedBy(name)
    const packages = loaded.flatMap(
      (url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? [],
    )
    expect(new Set(packages)).toEqual(new Set(allowed))
    const builtIns = loaded.filter((url) => url.startsWith('node:'))
    if (NEUTRAL.includes(name)) expect(builtIns).toEqual([])
  })
})

/** Returns the URLs of the modules that a new process loads to import a package in its published form. */
function loadedBy(name: string): readonly string[] {
  const entry = new URL(`../../packages/${name}/dist/index.js`, import.meta.url).href
  const script = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
    await import(${JSON.stringify(entry)})
    console.log(JSON.stringify(urls))`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    },
  )
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}
