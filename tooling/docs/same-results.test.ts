/** AgentEnsemble, which is not a package for Node, has the results that `docs/coming-from.md` shows for the same job in Tutti. */
import { fileURLToPath } from 'node:url'

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
