/** Other products have the results that `docs/coming-from.md` shows for the same job in Tutti. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

import { readPages } from './pages.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const blocks = readPages(ROOT).find(({ path }) => path === 'docs/coming-from.md')?.blocks ?? []

/** Returns the program of a file on the page, and the text that it prints. */
function readExample(file: string): { readonly code: string; readonly printed: string } {
  const at = blocks.findIndex(({ code }) => code.startsWith(`// ${file}\n`))
  const printed = blocks.slice(at).find(({ language }) => language === 'text')?.code ?? ''
  return { code: blocks[at]?.code ?? '', printed }
}

it('LangGraph prints the result of the example with Send that Tutti prints', async () => {
  const foreign = blocks.find(({ code }) => code.includes("new Send('joke'"))?.code ?? ''
  const { code, printed } = readExample('jokes.ts')
  // Both programs have the same functions.
  const functions = [...code.matchAll(/^function [\s\S]+?^\}$/gm)].map(([text]) => text)
  expect(functions).toHaveLength(2)
  // LangGraph is a dependency of langchain.
  const langchain = createRequire(join(ROOT, 'packages/langchain/package.json')).resolve(
    'langchain',
  )
  const graph = createRequire(langchain).resolve('@langchain/langgraph')
  const folder = mkdtempSync(join(tmpdir(), 'tutti-same-results-'))
  try {
    const program = join(folder, 'send.mts')
    const imported = `import langgraph from ${JSON.stringify(graph)}`
    const names = 'const { Annotation, Send, START, StateGraph } = langgraph'
    writeFileSync(program, [imported, names, ...functions, foreign].join('\n'))
    const { stdout } = await promisify(execFile)(process.execPath, [program])
    expect(stdout.trim()).toBe(printed.trim())
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('The map-reduce example has as many tasks in each level as the rule of AgentEnsemble gives', () => {
  const { code, printed } = readExample('kitchen.ts')
  const dishes = [...(/stringify\(\[(.+)\]\)/.exec(code)?.[1] ?? '').matchAll(/'(\w+)'/g)]
  const maxTokens = Number(/maxTokens: (\d+)/.exec(code)?.[1])
  let texts = dishes.map(([, dish]) => `${dish} in 35 minutes`)
  const levels: number[] = [texts.length]
  while (levels.at(-1) !== 1) {
    const bins = packByTokens(texts, maxTokens)
    levels.push(bins.length)
    texts = bins.map((bin) => bin.map((text) => /^\w+/.exec(text)?.[0] ?? '').join(', '))
  }
  expect(levels).toEqual([7, 3, 1])
  const names = printed.split('\n')[0]?.split(', ') ?? []
  const inLevel = (level: number): number =>
    names.filter((name) => name.startsWith(`reduce-plan-${level}-`)).length
  const items = names.filter((name) => /^\d+$/.test(name)).length
  expect([items, inLevel(1), inLevel(2), inLevel(3)]).toEqual([...levels, 0])
})

/**
 * Packs outputs as `MapReduceEnsemble` does: the one with the most tokens first, each into the first bin that has room. A text
 * has one token for four characters.
 */
function packByTokens(texts: readonly string[], maxTokens: number): readonly (readonly string[])[] {
  const count = (text: string): number => Math.ceil(text.length / 4)
  const bins: string[][] = []
  for (const text of texts.toSorted((a, b) => count(b) - count(a))) {
    const bin = bins.find(
      (one) => one.reduce((sum, other) => sum + count(other), count(text)) <= maxTokens,
    )
    if (bin === undefined) bins.push([text])
    else bin.push(text)
  }
  return bins
}
