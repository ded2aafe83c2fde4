/** Each kind of pipeline can contain each other kind, and the steps run in the order of the code. */
import { describe, expect, it } from 'vitest'

import { defineTool, runToolCalls, toolCatalog, Type } from '@tutti/core'
import { branch, mapEach, parallel, pipeline, pipelineBuilder } from '../src/index.ts'
import { call } from './call.ts'
import { textTool, throwingTool } from './text-tools.ts'

const search = defineTool({
  name: 'search',
  description: 'Finds pages',
  input: Type.Object({ query: Type.String(), most: Type.Integer({ default: 3 }) }),
  output: Type.Array(Type.Object({ url: Type.String() })),
  execute: ({ query, most }) =>
    Array.from({ length: most }, (_, index) => ({ url: `${query}/${index}` })),
})
const read = defineTool({
  name: 'read',
  description: 'Reads a page',
  input: Type.Object({ url: Type.String() }),
  output: Type.Object({ url: Type.String(), text: Type.String() }),
  execute: ({ url }) => ({ url, text: 'x'.repeat(Number(url.at(-1))) }),
})
const summarize = textTool('summarize', (text) => `<${text.length}>`)
const report = defineTool({
  name: 'report',
  description: 'Writes a report',
  input: Type.Object({ titles: Type.Array(Type.String()), note: Type.String() }),
  execute: ({ titles, note }) => `${titles.join()} ${note}`,
})

const readOne = pipeline(
  [
    read,
    branch(
      {
        when: ({ text }: { text: string; url: string }) => text.length > 1,
        yes: summarize,
        no: pipelineBuilder({ name: 'plain' })
          .step(
            defineTool({
              ...read,
              name: 'again',
              input: Type.Object({ url: Type.String() }),
              output: Type.Object({ url: Type.String() }),
              execute: ({ url }) => ({ url }),
            }),
          )
          .adapter(({ structured }) => structured.url)
          .step(textTool('quote', (text) => `"${text}"`))
          .build(),
      },
      { name: 'shorten' },
    ),
  ],
  { name: 'read_one' },
)
const digest = pipelineBuilder({ name: 'digest', description: 'Makes a digest' })
  .step(search)
  .step(parallel({ titles: mapEach(readOne), note: pipeline([summarize], { name: 'note' }) }))
  .step(report)
  .build()

describe('a pipeline with all kinds of steps', () => {
  it('A pipeline with all kinds of steps runs nested steps with typed values between them', async () => {
    const { result, steps } = await call(digest, { query: 'q' })
    expect(result.output).toBe('"q/0","q/1",<25> <43>')
    expect(steps).toHaveLength(22)
    expect(steps).toContain('c/2:titles_and_note/titles/#0/2:shorten/no/1:again again finished')
    expect(steps.at(-1)).toBe('c/3:report report finished')
  })

  it('A pipeline with all kinds of steps can be called by a model like any tool', async () => {
    const tools = toolCatalog([digest, search, summarize]).tools
    const outcomes = await runToolCalls(tools, [
      { id: '1', name: 'digest', arguments: '{"query":"a","most":1}' },
      { id: '2', name: 'digest', arguments: '{"most":"many"}' },
      { id: '3', name: 'summarize', arguments: '{"input":"a"}' },
    ])
    expect(outcomes.map(({ result }) => result.output)).toEqual(['"a/0" <15>', '', '<1>'])
    expect(outcomes[1]?.result.errorMessage).toBe(
      'Invalid input for "digest": /query is required; /most must be an integer, got "many"',
    )
  })

  it('A pipeline with all kinds of steps reports a nested failure with its path', async () => {
    const inner = parallel({ a: textTool('a'), b: pipeline([throwingTool('t')], { name: 'q' }) })
    const tool = pipeline([mapEach(inner)], { name: 'p' })
    const { result } = await call(tool, { items: ['x'] })
    expect(result.errorMessage).toBe("Item 0 failed: Branch 'b' failed: Step 't' threw: No network")
  })
})
