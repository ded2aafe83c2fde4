/** Tests that manifests, programs and pages state the same oldest version of Node. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { findNodeProblem } from '../../packages/create-tutti/src/node-version.ts'
import { listPages } from '../docs/pages.ts'
import { publicPackages } from '../packages/pack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const OLDEST = enginesIn('packages/core').replace('>=', '')
const [major = 0, minor = 0] = OLDEST.split('.').map(Number)

describe('the oldest supported Node', () => {
  it('The oldest supported Node is the same in every public package and in a new project', () => {
    const folders = publicPackages().map(({ directory }) => directory)
    const engines = [...folders, 'packages/create-tutti/template'].map((folder) => [
      folder,
      enginesIn(folder),
    ])
    expect(engines.filter(([, range]) => range !== `>=${OLDEST}`)).toEqual([])
  })

  it('The oldest supported Node creates a project, and the version before it gets the error', () => {
    expect(findNodeProblem(`${OLDEST}.0`)).toBeUndefined()
    expect(findNodeProblem(`${major}.${minor - 1}.9`)).toMatch(
      `needs Node ${OLDEST} or later, but this is Node ${major}.${minor - 1}.9.`,
    )
  })

  it('Every page names the oldest supported Node in the same words', () => {
    const mentions = listPages(ROOT).flatMap((path) =>
      [
        ...readFileSync(join(ROOT, path), 'utf8').matchAll(
          /Node\.?(?:js)?\s+[≥>=v]*\s*22\b.{0,14}/gs,
        ),
      ].map(([words]) => [path, words.replaceAll(/\s+/g, ' ')]),
    )
    expect(mentions.length).toBeGreaterThan(10)
    const others = mentions.filter(([, words]) => !words?.startsWith(`Node ${OLDEST} or later`))
    expect(others).toEqual([])
  })
})

function enginesIn(folder: string): string {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')).engines.node
}
