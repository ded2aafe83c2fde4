import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

/** Third-party packages that each built entry point may load when only it is imported. */
const MAY_LOAD: Readonly<Record<string, readonly string[]>> = {
  protocol: ['typebox'],
  core: ['typebox'],
  'agent-call/internal': ['typebox'],
  'net/internal': ['typebox'],
  'mcp/internal': ['typebox'],
  pipeline: ['typebox'],
  'builtin-tools': ['typebox'],
  'remote-tools': ['typebox'],
  'agent-tool': ['typebox'],
  ensemble: ['typebox'],
  testing: ['typebox'],
  client: ['typebox', 'eventsource-parser'],
  langchain: ['typebox'],
  runs: ['typebox'],
  'gateway/internal': ['typebox'],
  telemetry: ['typebox', '@opentelemetry/api', '@opentelemetry/semantic-conventions'],
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** An import of an entry point that promises nothing. */
const INTERNAL = /from '@tutti\/[a-z-]+\/internal'/

/** Entry points that also run in browsers. */
const NEUTRAL = [
  'protocol',
  'core',
  'agent-call/internal',
  'pipeline',
  'ensemble',
  'testing',
  'client',
]

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

it('Documentation, examples and templates import no internal entry points', () => {
  const patterns = [
    'docs/**/*.md',
    'examples/**/*.{ts,tsx}',
    'packages/create-tutti/template/**',
    'README.md',
  ]
  const found = globSync(patterns, { cwd: ROOT, exclude: ['**/node_modules/**'] }).filter(
    (path) => /\.(?:md|tsx?)$/.test(path) && INTERNAL.test(readFileSync(join(ROOT, path), 'utf8')),
  )
  expect(found).toEqual([])
})

/** Returns the URLs of the modules that a new process loads to import a package in its published form. */
function loadedBy(name: string): readonly string[] {
  const [folder, entryPoint = 'index'] = name.split('/')
  const entry = new URL(`../../packages/${folder}/dist/${entryPoint}.js`, import.meta.url).href
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
      cwd: ROOT,
    },
  )
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}
